import type { MigrationInterface, QueryRunner } from 'typeorm';

// What an order wants of its user coupon, and how far that is. Written before the coupon service is asked, so that a
// process that dies at any point leaves a row that says what to do: no foreign key, since the order may never come to be.
export class CouponUses1763400000005 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table coupon_uses (
        order_id        uuid primary key,
        user_coupon_id  uuid not null,
        user_id         text not null constraint coupon_uses_user check (char_length(user_id) between 1 and 255),
        request_id      bytea not null constraint coupon_uses_request check (octet_length(request_id) = 32),
        state           text not null constraint coupon_uses_state
          check (state in ('RESERVING', 'RESERVED', 'CONFIRMING', 'CONFIRMED', 'RELEASING', 'RELEASED')),
        due_at          timestamptz(3) not null
      )`);
    // One attempt at a time: two of one user would each be told that the other has the coupon.
    await runner.query(`
      create unique index coupon_uses_one_attempt on coupon_uses (user_coupon_id, user_id) where state = 'RESERVING'`);
    await runner.query(`
      create index coupon_uses_open on coupon_uses (user_coupon_id, user_id) where state <> 'RELEASED'`);
    await runner.query(`
      create index coupon_uses_due on coupon_uses (due_at) where state in ('RESERVING', 'CONFIRMING', 'RELEASING')`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
