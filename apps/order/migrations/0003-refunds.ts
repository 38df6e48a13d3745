import type { MigrationInterface, QueryRunner } from 'typeorm';

const most = '9007199254740991';

// The limit of a balance is one of charges (the statement of a charge keeps it): points that were spent come back whatever
// has been charged meanwhile. How an order ended is written with it, and what was returned is found from there.
export class Refunds1763400000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table wallets
        drop constraint wallets_balance,
        add constraint wallets_balance check (balance between 0 and ${most})`);
    await runner.query(`
      alter table points_ledger
        drop constraint points_ledger_balance,
        add constraint points_ledger_balance check (balance between 0 and ${most}),
        add constraint points_ledger_charge_limit check (kind <> 'CHARGE' or balance <= 10000000)`);
    await runner.query(`
      alter table orders
        add column ended_at timestamptz(3),
        add constraint orders_ended_at
          check ((status in ('CANCELLED', 'EXPIRED', 'REFUNDED')) = (ended_at is not null))`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
