import { ApiProperty } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { stockLimit } from './option.repository.js';

export class LabResetDto {
  @ApiProperty({ type: 'integer', minimum: 0, maximum: stockLimit, description: 'Of each option.' })
  @IsInt()
  @Min(0)
  @Max(stockLimit)
  stock: number;

  @ApiProperty({ type: 'integer', minimum: 1, maximum: 1000, description: 'How many options.' })
  @IsInt()
  @Min(1)
  @Max(1000)
  options: number;
}
