import { Database, sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { LedgerKind } from './wallet.view.js';

export interface LedgerRow {
  id: number;
  kind: LedgerKind;
  amount: number;
  balance: number;
  orderId: string | null;
  createdAt: Date;
}

const balanceStatement = sql('wallet-balance', 'select balance from wallets where user_id = $1');

// The wallet opens with its first charge. The entry's id is drawn after the wallet's row was locked, so that a user's
// entries are numbered in the order of their effect.
const chargeStatement = sql(
  'wallet-charge',
  `with wallet as (
     insert into wallets as w (user_id, balance) values ($1, $2)
     on conflict (user_id) do update
        set balance = w.balance + excluded.balance
      where w.balance + excluded.balance <= 10000000
     returning user_id, balance
   )
   insert into points_ledger (user_id, kind, amount, balance)
   select user_id, 'CHARGE', $2, balance from wallet
   returning id, balance`,
);

// Written as an upsert for one case: a total of 0 is paid with 0 points, also by a user who never charged any. With
// anything to pay, a user without a wallet inserts nothing and so meets no conflict: no row, like a balance too low.
const spendStatement = sql(
  'wallet-spend',
  `with wallet as (
     insert into wallets as w (user_id, balance)
     select $1, 0 where $3::bigint = 0 or exists (select from wallets where user_id = $1)
     on conflict (user_id) do update
        set balance = w.balance - $3
      where w.balance >= $3
     returning user_id, balance
   )
   insert into points_ledger (user_id, kind, amount, balance, order_id)
   select user_id, 'SPEND', -$3::bigint, balance, $2 from wallet
   returning balance`,
);

// Without the limit of a charge: what was spent comes back, whatever was charged since. UNIQUE (order_id, kind): once.
const refundStatement = sql(
  'wallet-refund',
  `with wallet as (
     update wallets set balance = balance + $3 where user_id = $1 returning user_id, balance
   )
   insert into points_ledger (user_id, kind, amount, balance, order_id)
   select user_id, 'REFUND', $3, balance, $2 from wallet
   returning balance`,
);

const ledgerStatement = sql(
  'wallet-ledger',
  `select id, kind, amount, balance, order_id as "orderId", created_at as "createdAt"
     from points_ledger
    where user_id = $1 and id < coalesce($2::bigint, 9007199254740992)
    order by id desc limit $3`,
);

@Injectable()
export class WalletRepository {
  constructor(private readonly database: Database) {}

  async balance(userId: string): Promise<number> {
    const [row] = await this.database.query<{ balance: number }>(balanceStatement, [userId]);
    return row?.balance ?? 0;
  }

  /** The entry it made, or nothing: then the balance would pass its limit. */
  async charge(tx: Transaction, userId: string, amount: number): Promise<{ id: number; balance: number } | undefined> {
    const [row] = await tx.query<{ id: number; balance: number }>(chargeStatement, [userId, amount]);
    return row;
  }

  /** Whether the balance was enough. */
  async spend(tx: Transaction, userId: string, orderId: string, amount: number): Promise<boolean> {
    return (await tx.query(spendStatement, [userId, orderId, amount])).length === 1;
  }

  async refund(tx: Transaction, userId: string, orderId: string, amount: number): Promise<void> {
    const refunded = await tx.query(refundStatement, [userId, orderId, amount]);
    if (refunded.length !== 1) throw new Error(`order ${orderId} was paid from a wallet that is not there`);
  }

  /** Newest first, those before the entry `before`. */
  ledger(userId: string, before: number | undefined, limit: number): Promise<LedgerRow[]> {
    return this.database.query<LedgerRow>(ledgerStatement, [userId, before ?? null, limit]);
  }
}
