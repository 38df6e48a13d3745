import { AdminOnly, Problems } from '@firstcome/http';
import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { LabResetDto } from './coupon.dto.js';
import { couponErrors } from './coupon.errors.js';
import { CouponView } from './coupon.view.js';
import { LabService } from './lab.service.js';
import { InvariantReport, LockList } from './lab.view.js';

@AdminOnly()
@Controller('v1/lab')
export class LabController {
  constructor(private readonly lab: LabService) {}

  @Post('reset')
  @HttpCode(200)
  @ApiOkResponse({ type: CouponView })
  @Problems(couponErrors.COUPON_NOT_FOUND)
  reset(@Body() body: LabResetDto): Promise<CouponView> {
    return this.lab.reset(body);
  }

  @Get('invariants')
  @ApiOkResponse({ type: InvariantReport })
  invariants(): Promise<InvariantReport> {
    return this.lab.checkInvariants();
  }

  @Get('locks')
  @ApiOkResponse({ type: LockList })
  locks(): Promise<LockList> {
    return this.lab.locks();
  }
}
