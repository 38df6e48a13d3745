import { AdminOnly } from '@firstcome/http';
import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { LabResetDto } from './lab.dto.js';
import { LabService } from './lab.service.js';
import { InvariantReport, LockList } from './lab.view.js';
import { ProductView } from './product.view.js';

@AdminOnly()
@Controller('v1/lab')
export class LabController {
  constructor(private readonly lab: LabService) {}

  @Post('reset')
  @HttpCode(200)
  @ApiOkResponse({ type: ProductView })
  reset(@Body() wanted: LabResetDto): Promise<ProductView> {
    return this.lab.reset(wanted);
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
