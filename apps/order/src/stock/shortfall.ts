import { optionErrors } from '../option.errors.js';
import type { BasketLine, StockedOption } from './strategy.js';

/** The refusal of every strategy: it names each line at fault; an absent option comes before a short one. */
export function refuseShortfall(basket: BasketLine[], options: Pick<StockedOption, 'optionId' | 'available'>[]): void {
  const available = new Map(options.map((option) => [option.optionId, option.available]));

  const absent = basket.filter((line) => !available.has(line.optionId));
  if (absent.length > 0) {
    throw optionErrors.OPTION_NOT_FOUND({
      errors: absent.map(({ optionId, pointer }) => ({
        pointer,
        code: 'OPTION_NOT_FOUND',
        message: `There is no option ${optionId}.`,
        optionId,
      })),
    });
  }

  const short = basket
    .map((line) => ({ ...line, available: available.get(line.optionId) ?? 0 }))
    .filter((line) => line.quantity > line.available);
  if (short.length > 0) {
    throw optionErrors.OUT_OF_STOCK({
      errors: short.map((line) => ({
        pointer: line.pointer,
        code: 'OUT_OF_STOCK',
        message: `Option ${line.optionId}: ${line.quantity} asked, ${line.available} available.`,
        optionId: line.optionId,
        available: line.available,
      })),
    });
  }
}
