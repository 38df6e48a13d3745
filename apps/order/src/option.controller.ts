import { AdminOnly, CurrentUser, PathId, Problems } from '@firstcome/http';
import type { User } from '@firstcome/http';
import { Body, Controller, Post } from '@nestjs/common';
import { ApiCreatedResponse } from '@nestjs/swagger';
import { AdjustStockDto } from './option.dto.js';
import { optionErrors } from './option.errors.js';
import { OptionService } from './option.service.js';
import { AdjustedStockView } from './option.view.js';

const { OPTION_NOT_FOUND, STOCK_NEGATIVE, STOCK_LIMIT_EXCEEDED } = optionErrors;

@AdminOnly()
@Controller('v1/admin/options')
export class OptionController {
  constructor(private readonly options: OptionService) {}

  @Post(':id/stock-adjustments')
  @ApiCreatedResponse({ type: AdjustedStockView })
  @Problems(OPTION_NOT_FOUND, STOCK_NEGATIVE, STOCK_LIMIT_EXCEEDED)
  adjust(
    @PathId('id') id: number,
    @Body() adjustment: AdjustStockDto,
    @CurrentUser() admin: User,
  ): Promise<AdjustedStockView> {
    return this.options.adjust(id, adjustment, admin.id);
  }
}
