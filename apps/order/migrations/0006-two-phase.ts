import type { MigrationInterface, QueryRunner } from 'typeorm';

// What is to become of the coupon's half of an order that is committed in two phases; null where there is no half (any more).
// The recovery works through these as well.
export class TwoPhase1763400000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table coupon_uses
        add column two_phase text,
        add constraint coupon_uses_two_phase check (case two_phase
          when 'PREPARING' then state = 'RESERVING'
          when 'COMMITTING' then state in ('RESERVED', 'CONFIRMING', 'CONFIRMED', 'RELEASING')
          when 'ABORTING' then state = 'RELEASING'
          else two_phase is null end)`);
    await runner.query('drop index coupon_uses_due');
    await runner.query(`
      create index coupon_uses_due on coupon_uses (due_at)
       where state in ('RESERVING', 'CONFIRMING', 'RELEASING') or two_phase is not null`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
