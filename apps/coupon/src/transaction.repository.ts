import { Database, sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { TransactionOutcome } from './transaction.dto.js';

// Below the deadline of the order service: it is to hear of the contention, not to give up waiting for it.
const patienceStatement = sql('transaction-patience', `select set_config('lock_timeout', '1000', true)`);
const standingStatement = sql(
  'transaction-standing',
  `select coalesce(
     (select outcome from transaction_outcomes where gid = $1),
     (select 'PREPARED' from pg_prepared_xacts where gid = $1 and database = current_database())) as standing`,
);
// Waits for one that is being prepared at this moment, which has such a row too.
const recordStatement = sql(
  'transaction-record',
  `insert into transaction_outcomes (gid, outcome) values ($1, $2) on conflict (gid) do nothing returning gid`,
);
const outcomeStatement = sql('transaction-outcome', 'select outcome from transaction_outcomes where gid = $1');

@Injectable()
export class TransactionRepository {
  constructor(private readonly database: Database) {}

  /** For this transaction: a lock that another prepared one holds is not waited for until the caller has gone. */
  async hurry(tx: Transaction): Promise<void> {
    await tx.query(patienceStatement, []);
  }

  async standing(tx: Transaction, gid: string): Promise<'PREPARED' | TransactionOutcome | null> {
    const [row] = await tx.query<{ standing: 'PREPARED' | TransactionOutcome | null }>(standingStatement, [gid]);
    return row!.standing;
  }

  /** False where the outcome is written down already. */
  async record(tx: Transaction, gid: string, outcome: TransactionOutcome): Promise<boolean> {
    return (await tx.query(recordStatement, [gid, outcome])).length === 1;
  }

  async outcome(gid: string): Promise<TransactionOutcome | undefined> {
    const [row] = await this.database.query<{ outcome: TransactionOutcome }>(outcomeStatement, [gid]);
    return row?.outcome;
  }
}
