import { randomUUID } from 'node:crypto';
import { nothingLeftPrepared } from '@firstcome/postgres';
import type { Ask, Invariant } from '@firstcome/postgres';
import { issueStatement } from './issuance/issue.repository.js';

// CONTRACT.md section 6, as far as the coupon database can say it alone. Each statement returns the rows that break the
// invariant; none is the only good answer. `npm run verify` and GET /v1/lab/invariants both run this list.

export const invariants: Invariant[] = [
  {
    id: 'I1',
    name: 'issued = count of user coupons <= total',
    text: `select c.id as "couponId", c.total, c.issued, count(u.id)::int as stored
             from coupons c left join user_coupons u on u.coupon_id = c.id
            group by c.id having c.issued <> count(u.id) or c.issued > c.total`,
  },
  {
    id: 'I2',
    name: 'nobody above the per-user limit',
    text: `select u.coupon_id as "couponId", u.user_id as "userId", count(*)::int as held, c.per_user_limit as "perUserLimit"
             from user_coupons u join coupons c on c.id = u.coupon_id
            group by u.coupon_id, u.user_id, c.per_user_limit having count(*) > c.per_user_limit`,
  },
  {
    id: 'I2',
    name: 'serials 1..issued without gaps',
    text: `select coupon_id as "couponId", serial, place::int
             from (select coupon_id, serial, row_number() over (partition by coupon_id order by serial) as place
                     from user_coupons) numbered
            where serial <> place`,
  },
  {
    id: 'I5',
    name: 'a reserved or used user coupon is in the one live order that it names, no other is in any',
    text: `select u.id as "userCouponId", u.status, u.order_id as "orderId", live.order_id as "liveOrderId", live.state
             from user_coupons u
             left join coupon_uses live on live.user_coupon_id = u.id and live.state <> 'RELEASED'
            where u.order_id is distinct from live.order_id
               or live.state is distinct from (case u.status when 'RESERVED' then 'RESERVED' when 'USED' then 'CONFIRMED' end)`,
  },
  nothingLeftPrepared,
  {
    id: 'I8',
    name: 'an idempotency key has at most one effect: the user coupon that its stored answer names, and no other key does',
    text: `select answer."userCouponId", count(*)::int as keys, count(u.id)::int as effects
             from (select (body::json ->> 'userCouponId')::uuid as "userCouponId" from idempotency_keys where status = 201) answer
             left join (select id from user_coupons union all select id from lab_user_coupons) u on u.id = answer."userCouponId"
            group by answer."userCouponId" having count(*) > 1 or count(u.id) <> count(*)`,
  },
  {
    id: 'I9',
    name: 'what a ticket tells was issued is there',
    text: `select t.id as "ticketId", t.body
             from tickets t
             left join (select id from user_coupons union all select id from lab_user_coupons) u
               on u.id = (t.body::json ->> 'userCouponId')::uuid
            where t.status = 201 and u.id is null`,
  },
  {
    id: 'I10',
    name: 'the guard refuses a lower fence, of either store',
    attempt: async (ask) => [...(await issuedUnder(ask, 9, null)), ...(await issuedUnder(ask, null, 9))],
  },
];

/** What the issue gives out under such fences of a coupon whose row has seen 10. The id is one that no coupon gets. */
async function issuedUnder(ask: Ask, fence: number | null, redlockFence: number | null) {
  const [coupon] = await ask(
    `insert into coupons (id, name, discount_type, discount_value, total, fence, redlock_fence)
     overriding system value values ($1, 'fence', 'FIXED', 1, 1, 10, 10)
     on conflict (id) do update set issued = 0 returning id`,
    [Number.MAX_SAFE_INTEGER],
  );
  return ask(issueStatement.text, [coupon!['id'], 'verify', randomUUID(), fence, redlockFence, null]);
}

/** Of strategy `none`, for verify to print and nobody to judge. */
export const unguarded = `
  select count(*)::int as issued,
         (select coalesce(sum(c.total), 0)::int from coupons c where c.id in (select coupon_id from lab_coupons)) as total
    from lab_user_coupons`;
