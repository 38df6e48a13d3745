// Coupons: a sale, and a sale with somebody beside it.
import { eachOf, post } from '../api.js';
import { usersOf } from '../lib/arrivals.js';
import { reconcileCoupon } from '../reconcile.js';
import type { ClientRecord } from '../lib/client-log.js';
import type { CouponRows, Finding } from '../reconcile.js';
import { rowsOf } from '../stores.js';
import type { Stores } from '../stores.js';
import { acknowledged, admin } from './setting.js';
import type { Prepared, Setting } from './setting.js';

export async function sale(setting: Setting): Promise<Prepared> {
  const { system, stores, phases, strategy } = setting;
  // The search for the knee does not know yet how many will come.
  const total = setting.supply ?? usersOf(phases) + 100_000;
  const url = `${system.coupon[0]}/v1/lab/reset`;
  const coupons = Array.from({ length: setting.keys }, () => ({ ...admin(setting), body: { total } }));
  const couponIds = await eachOf(coupons, async (call) => (await post<{ id: number }>(url, call)).id, 4);
  return {
    input: { couponIds },
    app: 'coupon',
    requestsPerArrival: 1,
    prove: async (records) => {
      const proofs = await eachOf(couponIds, async (id) => {
        const own = couponIds.length === 1 ? records : records.filter(({ about }) => about === String(id));
        return proofOf(strategy, own, await couponRows(stores, id));
      }, 2); // prettier-ignore
      return {
        findings: proofs.flatMap(({ findings }) => findings),
        sold: proofs.reduce((sum, { sold }) => sum + sold, 0),
      };
    },
  };
}

function proofOf(strategy: string, records: readonly ClientRecord[], rows: CouponRows) {
  if (strategy === 'none') return { findings: untouched(rows), sold: acknowledged(records) };
  return { findings: reconcileCoupon(records, rows), sold: rows.userCoupons.length };
}

/** `none` works on tables of its own: the guarded ones must not know of it. */
function untouched({ userCoupons }: CouponRows): Finding[] {
  const text = 'none issued into the guarded tables';
  return userCoupons.length === 0
    ? []
    : [{ law: 'contract', text, count: userCoupons.length, examples: userCoupons.slice(0, 5) }];
}

async function couponRows({ coupon }: Stores, id: number): Promise<CouponRows> {
  const [row] = await rowsOf<{ total: number; issued: number; perUserLimit: number }>(
    coupon,
    'select total, issued, per_user_limit as "perUserLimit" from coupons where id = $1',
    [id],
  );
  const userCoupons = await rowsOf<CouponRows['userCoupons'][number]>(
    coupon,
    'select id, user_id as "userId", serial from user_coupons where coupon_id = $1',
    [id],
  );
  return { ...row!, userCoupons };
}

/** The probe reads coupons that nobody grabs. */
export async function bleed(setting: Setting): Promise<Prepared> {
  const { system } = setting;
  const others = await eachOf([1, 2, 3], () =>
    post<{ id: number }>(`${system.coupon[0]}/v1/lab/reset`, { ...admin(setting), body: { total: 1 } }),
  );
  const prepared = await sale({ ...setting, phases: setting.phases.filter(({ name }) => !name.startsWith('probe')) });
  return { ...prepared, input: { ...prepared.input, probePaths: others.map(({ id }) => `/v1/coupons/${id}`) } };
}
