import { ApiProperty } from '@nestjs/swagger';

export class AdjustedStockView {
  @ApiProperty({ type: 'integer' }) optionId: number;
  @ApiProperty({ type: 'integer' }) available: number;
}
