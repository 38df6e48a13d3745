import type { MigrationInterface, QueryRunner } from 'typeorm';

// How each transaction ended that the order service had prepared here. COMMITTED is written inside it, and so seen with its
// commit and never before; ROLLED_BACK also of one that was not prepared yet, and then never will be.
export class Transactions1763400000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table transaction_outcomes (
        gid         text primary key constraint transaction_outcomes_gid check (gid ~ '^[A-Za-z0-9_-]{1,100}$'),
        outcome     text not null constraint transaction_outcomes_outcome check (outcome in ('COMMITTED', 'ROLLED_BACK')),
        decided_at  timestamptz(3) not null default now()
      )`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
