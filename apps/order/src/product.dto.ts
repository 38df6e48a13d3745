import { IsLabel, QueryInt } from '@firstcome/http';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsInt, IsObject, Max, Min, ValidateNested } from 'class-validator';
import { stockLimit } from './option.repository.js';

export class CreateOptionDto {
  @ApiProperty({ minLength: 1, maxLength: 100 })
  @IsLabel(100)
  name: string;

  @ApiProperty({ type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Points for one piece.' })
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  price: number;

  @ApiProperty({ type: 'integer', minimum: 0, maximum: stockLimit })
  @IsInt()
  @Min(0)
  @Max(stockLimit)
  stock: number;
}

export class CreateProductDto {
  @ApiProperty({ minLength: 1, maxLength: 100 })
  @IsLabel(100)
  name: string;

  // IsObject as well: ValidateNested alone walks into an array in an array and finds nothing wrong with an empty one.
  @ApiProperty({ type: [CreateOptionDto], minItems: 1, maxItems: 50 })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(50)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => CreateOptionDto)
  options: CreateOptionDto[];
}

export class PopularQuery {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    maximum: 365,
    default: 3,
    description: 'Paid within so many days.',
  })
  @QueryInt()
  @IsInt()
  @Min(1)
  @Max(365)
  days: number = 3;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: 5 })
  @QueryInt()
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 5;
}
