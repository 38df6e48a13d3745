import { Injectable } from '@nestjs/common';
import type { AdjustStockDto } from './option.dto.js';
import { optionErrors } from './option.errors.js';
import { OptionRepository, stockLimit } from './option.repository.js';
import type { AdjustedStockView } from './option.view.js';

@Injectable()
export class OptionService {
  constructor(private readonly options: OptionRepository) {}

  async adjust(optionId: number, { delta, reason }: AdjustStockDto, adminId: string): Promise<AdjustedStockView> {
    const available = await this.options.adjust(optionId, delta, reason, adminId);
    if (available !== undefined) return { optionId, available };

    const stock = await this.options.stock(optionId);
    if (!stock) throw optionErrors.OPTION_NOT_FOUND();
    if (stock.onHand + delta > stockLimit) throw optionErrors.STOCK_LIMIT_EXCEEDED();
    throw optionErrors.STOCK_NEGATIVE({ extra: { available: stock.onHand - stock.reserved } });
  }
}
