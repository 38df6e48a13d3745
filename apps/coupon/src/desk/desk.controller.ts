import { AdminOnly, httpErrors, PathId, Problems, Public } from '@firstcome/http';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { couponErrors } from '../coupon.errors.js';
import { DeskQuery } from './desk.dto.js';
import { DeskService } from './desk.service.js';
import { DeskView } from './desk.view.js';

const description = `A WebSocket (RFC 6455). The token of an administrator goes in \`Authorization\`, or as the subprotocols
\`bearer, <token>\`. Who is seated is told \`{"type":"seated","couponId":42,"role":"editor","sessionId":"…"}\`, answers pings, and
sends nothing. A refusal is a close code, 4000 + the status of the problem whose \`code\` is the reason: 4400, 4401, 4403, 4404,
4409 \`DESK_TAKEN\`, 4429. 1013: come again later. 1001: this instance stops, another takes you. 1008, 1009: a message was sent.`;

@Controller('v1')
export class DeskController {
  constructor(private readonly desk: DeskService) {}

  @Public()
  @Get('desk')
  @ApiOperation({
    summary: 'The seat of the editor or the reviewer of a coupon, for as long as the socket is open',
    description,
  })
  @ApiResponse({ status: 101, description: 'Switching to WebSocket' })
  @Problems(httpErrors.UPGRADE_REQUIRED)
  notASocket(@Query() _query: DeskQuery): never {
    throw httpErrors.UPGRADE_REQUIRED();
  }

  @AdminOnly()
  @Get('admin/coupons/:id/desk')
  @ApiOkResponse({ type: DeskView })
  @Problems(couponErrors.COUPON_NOT_FOUND)
  seats(@PathId('id') id: number): Promise<DeskView> {
    return this.desk.seats(id);
  }
}
