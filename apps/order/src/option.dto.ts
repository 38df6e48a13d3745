import { IsLabel } from '@firstcome/http';
import { ApiProperty } from '@nestjs/swagger';
import { IsInt, Max, Min, NotEquals } from 'class-validator';
import { stockLimit } from './option.repository.js';

export class AdjustStockDto {
  @ApiProperty({
    type: 'integer',
    minimum: -stockLimit,
    maximum: stockLimit,
    description: 'Pieces added or, below 0, taken; not 0.',
  })
  @IsInt()
  @Min(-stockLimit)
  @Max(stockLimit)
  @NotEquals(0)
  delta: number;

  @ApiProperty({ minLength: 1, maxLength: 200 })
  @IsLabel(200)
  reason: string;
}
