import type { Client } from 'pg';
import type { Told } from './crowd.js';
import type { Arrival } from './system.js';

export interface Judged {
  issued: number;
  perTransaction: number;
  /** Issues whose serial is lower than that of somebody who came before: at the same instance, and at any. */
  inversions: { within: number; across: number };
}

/** Throws unless what is stored is gapless, nobody has two, and everybody was told what is stored. */
export async function judge(database: Client, couponId: number, told: Told, books: Arrival[][]): Promise<Judged> {
  const stored = await database.query<{ user_id: string; serial: number }>(
    'select user_id, serial from user_coupons where coupon_id = $1 order by serial',
    [couponId],
  );
  const counted = await database.query<{ issued: number; transactions: number }>(
    `select issued, (select count(distinct xmin::text)::int from user_coupons where coupon_id = $1) as transactions
       from coupons where id = $1`,
    [couponId],
  );
  const serials = new Map(stored.rows.map(({ user_id: user, serial }) => [user, serial]));
  const { issued, transactions } = counted.rows[0]!;
  const wrong = (what: string) => new Error(`coupon ${couponId}: ${what}. A run that is wrong has no figure.`);
  if (issued !== stored.rows.length) throw wrong(`issued is ${issued}, stored are ${stored.rows.length}`);
  if (serials.size !== stored.rows.length) throw wrong('somebody has two');
  if (stored.rows.some(({ serial }, index) => serial !== index + 1)) throw wrong('the serials have a gap');
  for (const [user, serial] of told.serials) {
    if (serials.get(user) !== serial) throw wrong(`${user} was told ${serial}, stored is ${serials.get(user)}`);
  }
  for (const user of serials.keys()) {
    if (!told.serials.has(user) && !told.doubtful.has(user))
      throw wrong(`${user} has one and was told that it has not`);
  }
  // Who came again came last where it was served.
  const inOrder = (book: Arrival[]) =>
    [...new Map(book.toReversed()).keys()].toReversed().flatMap((user) => serials.get(user) ?? []);
  return {
    issued,
    perTransaction: issued / transactions,
    inversions: {
      within: books.reduce((sum, book) => sum + overtaken(inOrder(book)), 0),
      across: overtaken(inOrder(books.flat().toSorted(([, one], [, other]) => one - other))),
    },
  };
}

function overtaken(serials: number[]): number {
  let highest = 0;
  let count = 0;
  for (const serial of serials) {
    if (serial < highest) count += 1;
    highest = Math.max(highest, serial);
  }
  return count;
}
