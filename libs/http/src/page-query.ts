import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';

/** A query value that must be an integer in canonical decimal; anything else stays a string, and fails @IsInt(). */
export const QueryInt = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^(0|[1-9][0-9]{0,14})$/.test(value) ? Number(value) : value,
  );

/** `?limit=1..100&cursor=…` of every list. Extend it for more filters. */
export class PageQuery {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 100, default: 20 })
  @QueryInt()
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;

  @ApiPropertyOptional({ description: 'the nextCursor of the page before' })
  @IsOptional()
  @IsString()
  @Length(1, 512)
  cursor?: string;
}
