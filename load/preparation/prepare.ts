// What a block needs before its first request, and how its rows are read after its last: one entry per scenario. Every block
// has coupons, products and users of its own, so that none starts from what another left.
import type { ScenarioName } from '../plan.js';
import { bleed, sale } from './coupons.js';
import { baskets, hotOption, shop } from './orders.js';
import { race } from './race.js';
import type { Prepared, Setting } from './setting.js';

const preparations: Record<ScenarioName, (setting: Setting) => Promise<Prepared>> = {
  'coupon-flash': sale,
  'coupon-duplicate': async (setting) => ({ ...(await sale(setting)), requestsPerArrival: 5 }),
  capacity: sale,
  bleed,
  'order-hot-option': hotOption,
  'order-multi-item': baskets,
  'order-mixed': shop,
  'pay-expire-race': race,
};

export const prepare = (scenario: ScenarioName, setting: Setting): Promise<Prepared> => preparations[scenario](setting);
