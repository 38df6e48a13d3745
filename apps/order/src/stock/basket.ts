import { orderErrors } from '../order.errors.js';
import type { BasketLine, StockedOption } from './strategy.js';

const quantityLimit = 1000;

/** Items of one option become one line; the lines are sorted by option, the order in which rows are locked. */
export function basketOf(items: { optionId: number; quantity: number }[]): BasketLine[] {
  const lines = new Map<number, BasketLine>();
  items.forEach(({ optionId, quantity }, index) => {
    const line = lines.get(optionId);
    if (line) line.quantity += quantity;
    else lines.set(optionId, { optionId, quantity, pointer: `/items/${index}` });
  });
  const basket = [...lines.values()].toSorted((a, b) => a.optionId - b.optionId);
  const excessive = basket.filter((line) => line.quantity > quantityLimit);
  if (excessive.length > 0) {
    throw orderErrors.QUANTITY_LIMIT_EXCEEDED({
      errors: excessive.map(({ optionId, quantity, pointer }) => ({
        pointer,
        code: 'QUANTITY_LIMIT_EXCEEDED',
        message: `Option ${optionId}: ${quantity} asked in all, at most ${quantityLimit} in one order.`,
        optionId,
      })),
    });
  }
  return basket;
}

/** The subtotal, exactly: 50 lines of 1000 pieces at the highest price are beyond what a number counts without loss. */
export function subtotalOf(basket: BasketLine[], options: Pick<StockedOption, 'price'>[]): number {
  const subtotal = basket.reduce((sum, line, at) => sum + BigInt(line.quantity) * BigInt(options[at]!.price), 0n);
  if (subtotal > BigInt(Number.MAX_SAFE_INTEGER)) throw orderErrors.TOTAL_LIMIT_EXCEEDED();
  return Number(subtotal);
}
