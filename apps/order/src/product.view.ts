import { ApiProperty } from '@nestjs/swagger';

export class OptionView {
  @ApiProperty({ type: 'integer' }) optionId: number;
  @ApiProperty() name: string;
  @ApiProperty({ type: 'integer' }) price: number;
  @ApiProperty({ type: 'integer', description: 'On hand and not reserved.' }) available: number;
}

export class ProductView {
  @ApiProperty({ type: 'integer' }) productId: number;
  @ApiProperty() name: string;
  @ApiProperty({ type: [OptionView], description: 'In the order in which they were created.' }) options: OptionView[];
}

export class ProductPage {
  @ApiProperty({ type: [ProductView] }) items: ProductView[];
  @ApiProperty({ type: 'string', nullable: true }) nextCursor: string | null;
}

export class PopularProductView extends ProductView {
  @ApiProperty({ type: 'integer', description: 'Pieces in orders that were paid in these days and not refunded.' })
  sold: number;
}

export class PopularView {
  @ApiProperty({ type: 'string', format: 'date-time' }) asOf: Date;
  @ApiProperty({ type: [PopularProductView], description: 'Most sold first.' }) items: PopularProductView[];
}
