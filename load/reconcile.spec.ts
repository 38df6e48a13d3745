import { describe, expect, it } from 'vitest';
import type { ClientRecord } from './lib/client-log.js';
import { reconcileCoupon, reconcileOrders, reconcileRace } from './reconcile.js';
import type { CouponRows, OrderRows } from './reconcile.js';

const base = { phase: 'burst', request: 'issue', at: 1000, ms: 5, instance: 0, code: '' } as const;
const issued = (n: number): ClientRecord => ({
  ...base,
  at: 1000 + n,
  user: `u${n}`,
  status: 201,
  outcome: 'acknowledged',
  id: `c${n}`,
  serial: n,
});
const refused = (n: number, code = 'COUPON_SOLD_OUT'): ClientRecord => ({
  ...base,
  at: 2000 + n,
  user: `u${n}`,
  status: 409,
  code,
  outcome: 'refused',
});
const row = (n: number) => ({ id: `c${n}`, userId: `u${n}`, serial: n });

/** Three coupons, three winners, two losers: everybody was told what is stored. */
function sale(): { records: ClientRecord[]; rows: CouponRows } {
  return {
    records: [issued(1), issued(2), issued(3), refused(4), refused(5)],
    rows: { total: 3, issued: 3, perUserLimit: 1, userCoupons: [row(1), row(2), row(3)] },
  };
}

const texts = (findings: { law: string; text: string }[]) => findings.map(({ law, text }) => `${law} ${text}`);

describe('a sale against its rows', () => {
  it('that told everybody what is stored has no finding', () => {
    const { records, rows } = sale();
    expect(reconcileCoupon(records, rows)).toEqual([]);
  });

  it('that is oversold is found, also when everybody was told the truth', () => {
    const { records, rows } = sale();
    records[3] = issued(4);
    rows.userCoupons.push(row(4));
    rows.issued = 4;
    expect(texts(reconcileCoupon(records, rows))).toEqual(['I1 more user coupons than the total of 3']);
  });

  it('that lost an acknowledged coupon is found', () => {
    const { records, rows } = sale();
    rows.userCoupons[1] = { ...row(2), userId: 'u4' };
    const found = texts(reconcileCoupon(records, rows));
    // Whoever lost a line of the log may have lost the answer that told it.
    const explained = reconcileCoupon(records, rows).filter(({ needsWholeLog }) => needsWholeLog);
    expect(texts(explained)).toEqual(['I9 stored, and nobody was told so']);
    expect(found).toContain('I9 told "issued", and it is not there as told');
    expect(found).toContain('I9 stored, and nobody was told so');
  });

  it('that told another serial than it stored is found', () => {
    const { records, rows } = sale();
    records[0] = { ...issued(1), serial: 2 };
    expect(texts(reconcileCoupon(records, rows))).toEqual(['I9 told "issued", and it is not there as told']);
  });

  it('that told a winner "sold out" is found: batches have done that while every total was right', () => {
    const { records, rows } = sale();
    records[2] = refused(3);
    expect(texts(reconcileCoupon(records, rows))).toContain('I9 stored, and nobody was told so');
  });

  it('that acknowledged one coupon to two users is found', () => {
    const { records, rows } = sale();
    records[3] = { ...issued(4), id: 'c1', serial: 1 };
    expect(texts(reconcileCoupon(records, rows))).toContain('I9 one user coupon was acknowledged to two requests');
  });

  it('that said "sold out" with coupons left is found', () => {
    const { records, rows } = sale();
    records.splice(2, 1);
    rows.userCoupons.pop();
    rows.issued = 2;
    expect(texts(reconcileCoupon(records, rows))).toEqual(['I9 told "sold out", and there are some left']);
  });

  it('that said "sold out" before the last winner had even asked is found', () => {
    const { records, rows } = sale();
    records[3] = { ...refused(4), at: 900, ms: 3 };
    expect(texts(reconcileCoupon(records, rows))).toEqual([
      'I9 told "sold out" before enough requests had been sent to sell out',
    ]);
  });

  it('goes by when the answer was there, not by how long the server took for it: k6 may have waited for a connection', () => {
    const { records, rows } = sale();
    records[3] = { ...refused(4), at: 900, ms: 3, told: 1003 };
    expect(texts(reconcileCoupon(records, rows))).toEqual([]);
  });

  it('with a gap in the serials, a counter that drifted, or a user above the limit is found', () => {
    const { records, rows } = sale();
    rows.userCoupons[2] = { ...row(3), userId: 'u1', serial: 5 };
    rows.issued = 2;
    const found = texts(reconcileCoupon(records, rows));
    expect(found).toContain('I1 the counter of the coupon is not the number of its user coupons');
    expect(found).toContain('I2 a user holds more than the limit');
    expect(found).toContain('I2 serials are not 1..issued without gaps');
  });

  it('leaves an unknown outcome open: it may be stored or not', () => {
    const { records, rows } = sale();
    records[2] = { ...issued(3), status: 503, code: 'LOCK_LOST', outcome: 'unknown', id: undefined, serial: undefined };
    expect(reconcileCoupon(records, rows)).toEqual([]);
    records.splice(3, 2);
    rows.userCoupons.pop();
    rows.issued = 2;
    expect(reconcileCoupon(records, rows)).toEqual([]);
  });

  it('that stored a coupon for a user who was told to come back is found', () => {
    const { records, rows } = sale();
    records[2] = {
      ...issued(3),
      status: 503,
      code: 'LOCK_TIMEOUT',
      outcome: 'contended',
      id: undefined,
      serial: undefined,
    };
    expect(texts(reconcileCoupon(records, rows))).toContain('I9 stored, and nobody was told so');
  });

  it('replays one key with one answer, and a second answer under it is found', () => {
    const { records, rows } = sale();
    records.push({ ...issued(1), key: 'k', replayed: true }, { ...issued(1), key: 'k', replayed: true });
    expect(reconcileCoupon(records, rows)).toEqual([]);
    records.push({ ...refused(1, 'COUPON_ALREADY_ISSUED'), key: 'k', id: 'c1' });
    expect(texts(reconcileCoupon(records, rows))).toEqual(['I8 one idempotency key got two different answers']);
  });

  it('where "already issued" names somebody else\'s coupon is found', () => {
    const { records, rows } = sale();
    records.push({ ...refused(1, 'COUPON_ALREADY_ISSUED'), id: 'c2' });
    expect(texts(reconcileCoupon(records, rows))).toEqual([
      `I9 "already issued" names a user coupon that is not this user's`,
    ]);
  });

  it('with an answer that nobody foresaw is found, whatever the rows say', () => {
    const { records, rows } = sale();
    records.push({ ...refused(6, 'INTERNAL_ERROR'), status: 500, outcome: 'unexpected' });
    expect(texts(reconcileCoupon(records, rows))).toEqual(['contract an answer that the contract does not have here']);
  });
});

describe('orders against their rows', () => {
  const ordered = (n: number): ClientRecord => ({
    ...base,
    request: 'order',
    user: `u${n}`,
    key: `k${n}`,
    status: 201,
    outcome: 'acknowledged',
    id: `o${n}`,
    state: 'PAID',
  });
  const noStock = (n: number): ClientRecord => ({
    ...base,
    request: 'order',
    user: `u${n}`,
    key: `k${n}`,
    status: 409,
    code: 'OUT_OF_STOCK',
    outcome: 'refused',
  });
  const order = (n: number) => ({ id: `o${n}`, userId: `u${n}`, status: 'PAID', userCouponId: null });
  const shop = (): { records: ClientRecord[]; rows: OrderRows } => ({
    records: [ordered(1), ordered(2), noStock(3)],
    rows: { orders: [order(1), order(2)], options: [{ optionId: 7, available: 0 }], oneOption: true },
  });

  it('that were all told what is stored have no finding', () => {
    const { records, rows } = shop();
    expect(reconcileOrders(records, rows)).toEqual([]);
  });

  it('where an acknowledged order is missing, or in another state, are found', () => {
    const { records, rows } = shop();
    rows.orders = [{ ...order(1), status: 'PENDING_PAYMENT' }];
    expect(reconcileOrders(records, rows)).toMatchObject([
      { law: 'I9', text: 'told "ordered", and it is not there as told', count: 2 },
    ]);
  });

  it('where a refused user has an order are found', () => {
    const { records, rows } = shop();
    rows.orders.push(order(3));
    expect(texts(reconcileOrders(records, rows))).toEqual(['I9 stored, and nobody was told so']);
  });

  it('where stock went below nothing, or was refused while there was some, are found', () => {
    const { records, rows } = shop();
    rows.options = [{ optionId: 7, available: -1 }];
    expect(texts(reconcileOrders(records, rows))).toEqual(['I3 less than nothing is left of an option']);
    rows.options = [{ optionId: 7, available: 1 }];
    expect(texts(reconcileOrders(records, rows))).toEqual(['I9 told "out of stock", and there is some left']);
    rows.oneOption = false;
    expect(reconcileOrders(records, rows)).toEqual([]);
  });
});

describe('the race of pay, cancel and expiry', () => {
  const told = (request: string, about: string, status = 201): ClientRecord => ({
    ...base, request, about, user: 'u', status, code: status < 400 ? '' : 'ORDER_NOT_PAYABLE', outcome: status < 400 ? 'acknowledged' : 'refused',
  }); // prettier-ignore
  const won = (id: string, status: string, ...arrows: string[]) => ({ id, status, arrows });

  it('with one winner per order has no finding', () => {
    const records = [told('pay', 'a'), told('cancel', 'a', 409), told('pay', 'b', 409), told('cancel', 'b', 200)];
    const orders = [
      won('a', 'PAID', 'OrderPaid'),
      won('b', 'CANCELLED', 'OrderCancelled'),
      won('c', 'EXPIRED', 'OrderExpired'),
    ];
    expect(reconcileRace(records, { orders })).toEqual([]);
  });

  it('with two winners, two arrows, no end or another end than told is found', () => {
    const records = [told('pay', 'a'), told('cancel', 'a', 200), told('pay', 'b')];
    const orders = [
      won('a', 'PAID', 'OrderPaid', 'OrderCancelled'),
      won('b', 'EXPIRED', 'OrderExpired'),
      won('c', 'PENDING_PAYMENT'),
    ];
    expect(texts(reconcileRace(records, { orders }))).toEqual([
      'I7 paid and cancelled were both acknowledged',
      'I7 not exactly one arrow led to the state of an order',
      'I7 an order lapsed and was not ended',
      'I9 the state of an order is not what its client was told',
    ]);
  });

  it('where its client ended an order and was not told so is found, and so is that a lost answer would explain it', () => {
    expect(reconcileRace([told('pay', 'a', 409)], { orders: [won('a', 'PAID', 'OrderPaid')] })).toMatchObject([
      { law: 'I9', text: 'an order was ended by its client, and the client was not told so', needsWholeLog: true },
    ]);
    const [denied] = reconcileRace([told('pay', 'a')], { orders: [won('a', 'EXPIRED', 'OrderExpired')] });
    expect(denied).toMatchObject({ text: 'the state of an order is not what its client was told' });
    expect(denied!.needsWholeLog).toBeUndefined();
  });
});
