// I9: what a client was told happened is there, what it was told did not is not. The client log against the rows, request by
// request. Pure: the rows come as data, so that specs can plant an oversold run or a lost acknowledgement.
import type { ClientRecord } from './lib/client-log.js';

export interface Finding {
  /** The invariant of CONTRACT.md section 6. */
  law: string;
  /** What is broken, in one sentence. */
  text: string;
  count: number;
  examples: unknown[];
  /** An answer that the log has lost would explain it: it proves nothing where the log is not whole. */
  needsWholeLog?: true;
}

const shown = 5;

const untoldText = 'stored, and nobody was told so';
const tooEarlyText = 'told "sold out" before enough requests had been sent to sell out';
const untoldEndText = 'an order was ended by its client, and the client was not told so';
const needWholeLog = new Set([untoldText, tooEarlyText, untoldEndText]);

/** The findings that have at least one example. */
function found(candidates: [law: string, text: string, examples: unknown[]][]): Finding[] {
  return candidates
    .filter(([, , examples]) => examples.length > 0)
    .map(([law, text, examples]) => ({
      law,
      text,
      count: examples.length,
      examples: examples.slice(0, shown),
      ...(needWholeLog.has(text) && { needsWholeLog: true as const }),
    }));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

const isAcknowledged = ({ outcome }: ClientRecord) => outcome === 'acknowledged';
const isUnknown = ({ outcome }: ClientRecord) => outcome === 'unknown' || outcome === 'unexpected';

/** What is the same of every kind: equal keys got equal answers, and nothing was answered that the contract does not have. */
function answers(records: readonly ClientRecord[]): Finding[] {
  const decided = records.filter(({ outcome }) => outcome === 'acknowledged' || outcome === 'refused');
  const unequal: unknown[] = [];
  for (const group of groupBy(decided, ({ user, key, request }) => key && `${user} ${request} ${key}`).values()) {
    const first = group[0]!;
    const other = group.find(({ status, code, id, serial }) =>
      status !== first.status || code !== first.code || id !== first.id || serial !== first.serial); // prettier-ignore
    if (other) unequal.push({ first, other });
  }
  return found([
    ['I8', 'one idempotency key got two different answers', unequal],
    [
      'contract',
      'an answer that the contract does not have here',
      records.filter(({ outcome }) => outcome === 'unexpected'),
    ],
  ]);
}

export interface CouponRows {
  total: number;
  /** The coupon's own counter. */
  issued: number;
  perUserLimit: number;
  userCoupons: { id: string; userId: string; serial: number }[];
}

export function reconcileCoupon(records: readonly ClientRecord[], rows: CouponRows): Finding[] {
  const byId = new Map(rows.userCoupons.map((row) => [row.id, row]));
  const asked = records.filter(({ request }) => request === 'issue');
  const byUser = groupBy(asked, ({ user }) => user);
  const fresh = asked.filter((record) => isAcknowledged(record) && !record.replayed);
  const soldOut = asked.filter(({ code }) => code === 'COUPON_SOLD_OUT');
  const held = groupBy(rows.userCoupons, ({ userId }) => userId);

  const lost = asked.filter((record) => {
    const row = isAcknowledged(record) ? byId.get(record.id ?? '') : undefined;
    return isAcknowledged(record) && (row?.userId !== record.user || row.serial !== record.serial);
  });
  const twice = [...groupBy(fresh, ({ id }) => id).values()].filter((group) => group.length > 1);
  const untold = rows.userCoupons.filter(({ id, userId }) => {
    const told = byUser.get(userId) ?? [];
    return !told.some((record) => (isAcknowledged(record) && record.id === id) || isUnknown(record));
  });
  const misnamed = asked.filter(
    ({ code, id, user }) => code === 'COUPON_ALREADY_ISSUED' && byId.get(id ?? '')?.userId !== user,
  );
  return [
    ...answers(asked),
    ...found([
      ['I1', `more user coupons than the total of ${rows.total}`, rows.userCoupons.slice(rows.total)],
      ['I1', 'the counter of the coupon is not the number of its user coupons', rows.issued === rows.userCoupons.length ? [] : [{ issued: rows.issued, stored: rows.userCoupons.length }]],
      ['I2', 'a user holds more than the limit', [...held.entries()].filter(([, own]) => own.length > rows.perUserLimit)],
      ['I2', 'serials are not 1..issued without gaps', gaps(rows.userCoupons)],
      ['I9', 'told "issued", and it is not there as told', lost],
      ['I9', 'one user coupon was acknowledged to two requests', twice],
      ['I9', untoldText, untold],
      ['I9', '"already issued" names a user coupon that is not this user\'s', misnamed],
      ['I9', 'told "sold out", and there are some left', rows.userCoupons.length < rows.total ? soldOut : []],
      ['I9', tooEarlyText, tooEarly(asked, soldOut, rows.total)],
    ]),
  ]; // prettier-ignore
}

function gaps(userCoupons: CouponRows['userCoupons']): unknown[] {
  const serials = userCoupons.map(({ serial }) => serial).toSorted((a, b) => a - b);
  return serials.flatMap((serial, place) => (serial === place + 1 ? [] : [{ serial, place: place + 1 }])).slice(0, 1);
}

/** Whatever the system does, nothing can be sold out to an answer that came before the total-th successful request left. */
function tooEarly(asked: readonly ClientRecord[], soldOut: readonly ClientRecord[], total: number): ClientRecord[] {
  const sent = asked
    .filter((record) => (isAcknowledged(record) && !record.replayed) || isUnknown(record))
    .map(({ at }) => at)
    .toSorted((a, b) => a - b);
  const lastOne = sent[total - 1];
  if (lastOne === undefined) return [];
  // Both clocks are the same machine's, read to a millisecond.
  return soldOut.filter(({ at, ms, told = at + ms }) => told < lastOne - 1);
}

export interface OrderRows {
  orders: { id: string; userId: string; status: string; userCouponId: string | null }[];
  /** What is left of each option the block sold. */
  options: { optionId: number; available: number }[];
  /** Where every basket wants the same single piece, a refusal for lack of stock and a piece left over contradict each other. */
  oneOption: boolean;
}

export function reconcileOrders(records: readonly ClientRecord[], rows: OrderRows): Finding[] {
  const byId = new Map(rows.orders.map((row) => [row.id, row]));
  const asked = records.filter(({ request }) => request === 'order');
  const byUser = groupBy(asked, ({ user }) => user);
  const fresh = asked.filter((record) => isAcknowledged(record) && !record.replayed);
  const lost = asked.filter((record) => {
    const row = isAcknowledged(record) ? byId.get(record.id ?? '') : undefined;
    return isAcknowledged(record) && (row?.userId !== record.user || row.status !== record.state);
  });
  const untold = rows.orders.filter(({ id, userId }) => {
    const told = byUser.get(userId) ?? [];
    return !told.some((record) => (isAcknowledged(record) && record.id === id) || isUnknown(record));
  });
  const outOfStock = asked.filter(({ code }) => code === 'OUT_OF_STOCK');
  const left = rows.options.reduce((sum, { available }) => sum + Math.max(0, available), 0);
  return [
    ...answers(asked),
    ...found([
      ['I3', 'less than nothing is left of an option', rows.options.filter(({ available }) => available < 0)],
      ['I9', 'told "ordered", and it is not there as told', lost],
      ['I9', 'one order was acknowledged to two requests', [...groupBy(fresh, ({ id }) => id).values()].filter((group) => group.length > 1)],
      ['I9', untoldText, untold],
      ['I9', 'told "out of stock", and there is some left', rows.oneOption && left > 0 ? outOfStock : []],
    ]),
  ]; // prettier-ignore
}

export interface RaceRows {
  orders: { id: string; status: string; arrows: string[] }[];
}

const endOfArrow: Record<string, string> = { OrderPaid: 'PAID', OrderCancelled: 'CANCELLED', OrderExpired: 'EXPIRED' };

export function reconcileRace(records: readonly ClientRecord[], rows: RaceRows): Finding[] {
  const byOrder = groupBy(records, ({ about }) => about);
  const both: unknown[] = [];
  const broken: unknown[] = [];
  const contradicted: unknown[] = [];
  const untold: unknown[] = [];
  const pending: unknown[] = [];
  for (const order of rows.orders) {
    const told = byOrder.get(order.id) ?? [];
    const paid = told.some((record) => record.request === 'pay' && isAcknowledged(record));
    const cancelled = told.some((record) => record.request === 'cancel' && isAcknowledged(record));
    if (paid && cancelled) both.push(order);
    if (order.status === 'PENDING_PAYMENT') pending.push(order);
    else if (order.arrows.length !== 1 || endOfArrow[order.arrows[0]!] !== order.status) broken.push(order);
    if (told.some(isUnknown)) continue;
    const expected = paid ? 'PAID' : cancelled ? 'CANCELLED' : 'EXPIRED';
    if (order.status === expected || order.status === 'PENDING_PAYMENT') continue;
    (paid || cancelled ? contradicted : untold).push({ ...order, told: expected });
  }
  return [
    ...answers(records),
    ...found([
      ['I7', 'paid and cancelled were both acknowledged', both],
      ['I7', 'not exactly one arrow led to the state of an order', broken],
      ['I7', 'an order lapsed and was not ended', pending],
      ['I9', 'the state of an order is not what its client was told', contradicted],
      ['I9', untoldEndText, untold],
    ]),
  ];
}
