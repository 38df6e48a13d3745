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

export class LockView {
  @ApiProperty({ example: 'option:7' }) key: string;
  @ApiProperty() held: boolean;
  @ApiProperty({ type: 'integer', description: 'How long the holder has left unless it is renewed.' })
  remainingMs: number;
  @ApiProperty({ type: 'integer', description: 'The highest drawn so far.' }) fence: number;
  @ApiProperty({ type: 'integer', description: 'In the line that all instances share.' }) queued: number;
  @ApiProperty({ type: 'integer', description: 'In the instance that answers.' }) waitersHere: number;
}

export class LockList {
  @ApiProperty({ type: [LockView] }) items: LockView[];
}
