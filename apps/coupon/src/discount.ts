export interface DiscountRules {
  discountType: 'FIXED' | 'PERCENT';
  discountValue: number;
  maxDiscount: number | null;
}

/** Points off a subtotal: floor for a percentage, never above the cap, never above the subtotal. */
export function discountOf({ discountType, discountValue, maxDiscount }: DiscountRules, subtotal: number): number {
  const full = discountType === 'FIXED' ? discountValue : percent(subtotal, discountValue);
  return Math.min(full, maxDiscount ?? full, subtotal);
}

/** In parts, because subtotal x 100 may leave the safe integers, and a float may round up. */
function percent(subtotal: number, value: number): number {
  const hundreds = Math.floor(subtotal / 100);
  return hundreds * value + Math.floor(((subtotal % 100) * value) / 100);
}
