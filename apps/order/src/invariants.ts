import { nothingLeftPrepared } from '@firstcome/postgres';
import type { Invariant } from '@firstcome/postgres';
import { reserveStatement } from './stock/reserve.js';

// What must be true of this database at rest (CONTRACT.md section 6). Each text selects the rows that break the rule, so
// that an empty answer is a pass and a breach names what is broken. Read by `npm run verify` and by GET /v1/lab/invariants.
export const invariants: Invariant[] = [
  {
    id: 'I3',
    name: 'per option initial + adjustments + returns - sold = on hand, reserved = open reservations, both >= 0',
    text: `
      with moved as (
        select i.option_id,
               coalesce(sum(i.quantity) filter (where o.status in ('PAID', 'REFUNDED')), 0) as sold,
               coalesce(sum(i.quantity) filter (where o.status = 'REFUNDED'), 0) as returned,
               coalesce(sum(i.quantity) filter (where o.status = 'PENDING_PAYMENT'), 0) as open
        from order_items i join orders o on o.id = i.order_id
        group by i.option_id
      ), adjusted as (
        select option_id, sum(delta) as delta from stock_adjustments group by option_id
      ), expected as (
        select o.id, o.on_hand, o.reserved,
               o.initial_stock + coalesce(a.delta, 0) + coalesce(m.returned, 0) - coalesce(m.sold, 0) as expected_on_hand,
               coalesce(m.open, 0) as expected_reserved
        from options o left join moved m on m.option_id = o.id left join adjusted a on a.option_id = o.id
      )
      select * from expected
      where on_hand <> expected_on_hand or reserved <> expected_reserved or on_hand < 0 or reserved < 0`,
  },
  {
    id: 'I4',
    name: 'per wallet the ledger sums to the balance, and the balance is >= 0',
    text: `
      select coalesce(w.user_id, l.user_id) as user_id, w.balance, l.points
      from wallets w
      full join (select user_id, sum(amount) as points from points_ledger group by user_id) l on l.user_id = w.user_id
      where w.balance is distinct from coalesce(l.points, 0) or w.balance < 0`,
  },
  {
    id: 'I5',
    name: 'a user coupon is in at most one live order',
    text: `
      select user_coupon_id, count(*) as orders
      from orders
      where user_coupon_id is not null and status in ('PENDING_PAYMENT', 'PAID')
      group by user_coupon_id having count(*) > 1`,
  },
  {
    id: 'I5',
    name: 'a coupon is reserved for its unpaid order, used by its paid one, and given back by one that ended',
    text: `
      select o.id, o.status, o.user_coupon_id, u.user_coupon_id as used, u.state, u.two_phase
      from (select * from orders where user_coupon_id is not null) o full join coupon_uses u on u.order_id = o.id
      where u.user_coupon_id is distinct from coalesce(o.user_coupon_id, u.user_coupon_id) or u.two_phase is not null
         or u.state is distinct from (case o.status
              when 'PENDING_PAYMENT' then 'RESERVED' when 'PAID' then 'CONFIRMED' else 'RELEASED' end)`,
  },
  {
    id: 'I6',
    name: 'a paid order has exactly one payment and one spend of its total, a refunded one exactly one refund; no other has any',
    text: `
      select o.id, o.status, o.total, p.payments, p.paid, l.spends, l.spent, l.refunds, l.refunded
      from orders o
      left join (select order_id, count(*) as payments, sum(amount) as paid from payments group by order_id) p
        on p.order_id = o.id
      left join (
        select order_id,
               count(*) filter (where kind = 'SPEND') as spends, -sum(amount) filter (where kind = 'SPEND') as spent,
               count(*) filter (where kind = 'REFUND') as refunds, sum(amount) filter (where kind = 'REFUND') as refunded
        from points_ledger where order_id is not null group by order_id) l
        on l.order_id = o.id
      where case when o.status in ('PAID', 'REFUNDED')
                 then p.payments is distinct from 1 or l.spends is distinct from 1
                      or p.paid is distinct from o.total or l.spent is distinct from o.total
                      or l.refunds <> (o.status = 'REFUNDED')::int or l.refunded <> o.total
                 else p.payments is not null or l.spends is not null end`,
  },
  {
    id: 'I7',
    name: 'a finished order holds no reservation',
    text: `
      select o.id as option_id, o.reserved, coalesce(r.open, 0) as open
      from options o
      left join (
        select i.option_id, sum(i.quantity) as open
        from order_items i join orders on orders.id = i.order_id
        where orders.status = 'PENDING_PAYMENT'
        group by i.option_id
      ) r on r.option_id = o.id
      where o.reserved > coalesce(r.open, 0)`,
  },
  nothingLeftPrepared,
  {
    id: 'I8',
    name: 'a key that is in progress is that of an attempt that is not over',
    text: `
      select encode(k.id, 'hex') as id, k.created_at from idempotency_keys k
      where k.status is null and not exists (
        select from coupon_uses u where u.request_id = k.id and u.state in ('RESERVING', 'RELEASING'))`,
  },
  {
    id: 'I8',
    name: 'an idempotency key has at most one effect: each order, each step of one and each charge is named by its stored answer',
    text: `
      with answer as (
        select body::json as body from idempotency_keys where status in (200, 201)
      ), effect as (
        select id::text as id, 'order' as kind, case status when 'REFUNDED' then 3 when 'PAID' then 2 when 'CANCELLED' then 2 else 1 end as most,
               created_at
          from orders
        union all
        select id::text, 'charge', 1, created_at from points_ledger where kind = 'CHARGE'
      ), named as (
        select coalesce(body->>'orderId', body->>'ledgerId') as id, count(*) as answers from answer group by 1
      ), purged as (
        -- Effects are dated to the millisecond, answers to the microsecond.
        select coalesce(max(purged_before) + interval '1 ms', '-infinity') as before from idempotency_purges
      )
      select effect.kind, effect.id, coalesce(named.answers, 0) as answers
      from purged, effect left join named on named.id = effect.id
      where coalesce(named.answers, 0) > effect.most
         or (named.answers is null and effect.created_at > purged.before)`,
  },
  {
    id: 'I9',
    name: 'what a ticket tells was ordered is there',
    text: `
      select t.id, t.body
      from tickets t
      left join (select id from orders union all select order_id from lab_orders) o on o.id = (t.body::json ->> 'orderId')::uuid
      where t.status = 201 and o.id is null`,
  },
  {
    id: 'I12',
    name: 'one event per committed transition, numbered from 1 without gaps',
    text: `
      with expected as (
        select o.id, wanted.type
        from orders o
        left join coupon_uses u on u.order_id = o.id
        cross join lateral unnest(
          array['OrderCreated', 'StockReserved']
          || case when o.user_coupon_id is null then array[]::text[] else array['CouponReserved'] end
          || case u.state when 'CONFIRMED' then array['CouponConfirmed'] when 'RELEASED' then array['CouponReleased']
               else array[]::text[] end
          || case when o.paid_at is null then array[]::text[] else array['PointsSpent', 'OrderPaid'] end
          || case o.status
               when 'CANCELLED' then array['OrderCancelled', 'StockReleased']
               when 'EXPIRED' then array['OrderExpired', 'StockReleased']
               when 'REFUNDED' then array['OrderRefunded', 'StockReturned', 'PointsRefunded']
               else array[]::text[] end
        ) as wanted (type)
      ), told as (
        select order_id as id, type, count(*) as times from order_events group by order_id, type
      )
      select id, type, coalesce(told.times, 0) as times, expected.type is not null as due
      from expected full join told using (id, type)
      -- A paid order may be refunded before or after its coupon was confirmed: that event may be there, once.
      where told.times is distinct from 1
         or (expected.type is null and not (
           type = 'CouponConfirmed' and exists (select from orders where orders.id = told.id and status = 'REFUNDED')))
      union all
      select order_id, 'seq', max(seq), false from order_events group by order_id having max(seq) <> count(*)`,
  },
  {
    id: 'I10',
    name: 'the guard refuses a lower fence',
    // Of an option whose row has seen 10. The ids are such as no product and no option gets.
    attempt: async (ask) => {
      const id = Number.MAX_SAFE_INTEGER;
      await ask(`insert into products (id, name) overriding system value values ($1, 'fence')`, [id]);
      await ask(
        `insert into options (id, product_id, position, name, price, initial_stock, on_hand, fence)
         overriding system value values ($1, $1, 1, 'fence', 1, 1, 1, 10)`,
        [id],
      );
      return ask(reserveStatement.text, [[id], [1], 9]);
    },
  },
];

/** Of stock strategy `none`, for verify to print and nobody to judge. */
export const unguarded = `
  select (select coalesce(sum(quantity), 0)::int from lab_orders) as issued,
         (select coalesce(sum(total), 0)::int from lab_option_stock) as total`;
