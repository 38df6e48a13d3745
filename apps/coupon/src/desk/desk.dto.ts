import { ApiProperty } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { deskRoles } from './seat.js';
import type { DeskRole } from './seat.js';

/** For the documents: a request that is no WebSocket is told so, whatever it asks for. What a WebSocket asks for: handshake.ts. */
export class DeskQuery {
  @ApiProperty({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
  @Allow()
  couponId: number;

  @ApiProperty({ enum: deskRoles })
  @Allow()
  role: DeskRole;
}
