import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';

/** Of the 202. */
export class AcceptedView {
  @ApiProperty({ format: 'uuid' }) ticketId: string;
}

export class TicketResult {
  @ApiProperty({ type: 'integer', description: 'The status that the request would have been answered with.' })
  status: number;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'Its body: the object, or the problem.' })
  body: object;
}

export class TicketView {
  @ApiProperty({ enum: ['WAITING', 'DONE'] }) status: 'WAITING' | 'DONE';
  @ApiPropertyOptional({ description: 'Once it is DONE.' }) result?: TicketResult;
}
