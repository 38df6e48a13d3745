import type { MigrationInterface, QueryRunner } from 'typeorm';

// What the order service did with a user coupon, once per order. A released use stays: a reservation that was delayed on
// its way and arrives after its release finds it, and takes nothing for an order that is gone.
export class CouponUses1763400000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table coupon_uses (
        user_coupon_id  uuid not null constraint coupon_uses_user_coupon references user_coupons (id) on delete cascade,
        order_id        uuid not null,
        state           text not null constraint coupon_uses_state check (state in ('RESERVED', 'CONFIRMED', 'RELEASED')),
        discount        bigint not null constraint coupon_uses_discount check (discount >= 0),
        primary key (user_coupon_id, order_id)
      )`);
    await runner.query(`
      create unique index coupon_uses_one_live on coupon_uses (user_coupon_id) where state in ('RESERVED', 'CONFIRMED')`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
