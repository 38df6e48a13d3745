import { ApiProperty } from '@nestjs/swagger';

export class SitterView {
  @ApiProperty() userId: string;
  @ApiProperty() sessionId: string;
}

export class DeskView {
  @ApiProperty({ type: 'integer' }) couponId: number;
  @ApiProperty({ type: SitterView, nullable: true }) editor: SitterView | null;
  @ApiProperty({ type: SitterView, nullable: true }) reviewer: SitterView | null;
}
