import { ApiProperty } from '@nestjs/swagger';

export class InvariantResult {
  @ApiProperty({ example: 'I3' }) id: string;
  @ApiProperty() name: string;
  @ApiProperty({ type: 'integer', description: '0 is the only good answer.' }) breaches: number;
  @ApiProperty({ type: 'array', items: { type: 'object', additionalProperties: true } }) examples: Record<
    string,
    unknown
  >[];
}

export class InvariantReport {
  @ApiProperty() ok: boolean;
  @ApiProperty({ type: [InvariantResult] }) invariants: InvariantResult[];
}
