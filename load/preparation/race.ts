// The race of payment, cancellation and expiry: orders that lapse one after another.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eachOf, post } from '../api.js';
import { reconcileRace } from '../reconcile.js';
import { rowsOf } from '../stores.js';
import type { Stores } from '../stores.js';
import { charge, product } from './orders.js';
import { users } from './setting.js';
import type { Prepared, Setting } from './setting.js';

/** k6 needs a moment to start; the first order lapses after it. */
const leadMs = 1500;
const lapsedWithinMs = 90_000;

export async function race(setting: Setting): Promise<Prepared> {
  const { system, stores, phases, userPrefix, folder } = setting;
  const [phase] = phases;
  const all = users(setting);
  const { options } = await product(setting, all.length, 1);
  await eachOf(all, (user) => charge(setting, user, options[0]!.price));
  const orders = await eachOf(all, async (user) => {
    const token = system.tokenFor(`${userPrefix}${user}`);
    const body = { items: [{ optionId: options[0]!.optionId, quantity: 1 }] };
    const url = system.order[user % system.order.length];
    return (await post<{ orderId: string }>(`${url}/v1/orders`, { token, key: `${userPrefix}${user}`, body })).orderId;
  });
  const expirySpacingMs = 1000 / phase!.rate;
  const ordersFile = join(folder, 'orders.txt');
  writeFileSync(ordersFile, orders.join('\n'));
  return {
    input: { ordersFile },
    app: 'order',
    requestsPerArrival: 2,
    // Ten minutes is too long for a race, and the configured time belongs to the system: only these orders lapse sooner.
    restart: async () => {
      const firstExpiryMs = Date.now() + leadMs;
      await stores.order.query(
        `update orders o
            set expires_at = to_timestamp($2::float8 / 1000) + (own.place - 1) * make_interval(secs => $3::float8 / 1000)
           from unnest($1::uuid[]) with ordinality as own (id, place) where o.id = own.id`,
        [orders, firstExpiryMs, expirySpacingMs],
      );
      return { firstExpiryMs, expirySpacingMs };
    },
    prove: async (records) => {
      await untilEnded(stores, orders);
      const rows = await rowsOf<{ id: string; status: string; arrows: string[] }>(
        stores.order,
        `select o.id, o.status,
                coalesce((select array_agg(e.type) from order_events e where e.order_id = o.id
                           and e.type in ('OrderPaid', 'OrderCancelled', 'OrderExpired')), '{}') as arrows
           from orders o where o.id = any($1::uuid[])`,
        [orders],
      );
      return { findings: reconcileRace(records, { orders: rows }) };
    },
  };
}

/** The scheduled job ends what lapsed; how often it looks is its own business. */
async function untilEnded({ order }: Stores, ids: string[]): Promise<void> {
  const deadline = performance.now() + lapsedWithinMs;
  while (performance.now() < deadline) {
    const [row] = await rowsOf<{ open: number }>(
      order,
      `select count(*)::int as open from orders where id = any($1::uuid[]) and status = 'PENDING_PAYMENT'`,
      [ids],
    );
    if (row?.open === 0) return;
    await pause(250);
  }
}
