import { idempotencyTableSql } from '@firstcome/http';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// The rules that no strategy may break stand here, where no bug in the application can walk round them:
// a coupon never gives out more than its total, a serial and a user's nth coupon exist once.
export class Coupons1763400000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table coupons (
        id              bigint generated always as identity primary key,
        name            text not null constraint coupons_name check (char_length(name) between 1 and 100),
        discount_type   text not null constraint coupons_discount_type check (discount_type in ('FIXED', 'PERCENT')),
        discount_value  bigint not null constraint coupons_discount_value check (discount_value >= 1),
        max_discount    bigint constraint coupons_max_discount check (max_discount >= 1),
        min_order       bigint not null default 0 constraint coupons_min_order check (min_order >= 0),
        total           integer not null constraint coupons_total check (total >= 1),
        issued          integer not null default 0 constraint coupons_issued check (issued >= 0),
        per_user_limit  integer not null default 1 constraint coupons_per_user_limit check (per_user_limit >= 1),
        starts_at       timestamptz(3),
        ends_at         timestamptz(3),
        valid_days      integer constraint coupons_valid_days check (valid_days >= 1),
        paused          boolean not null default false,
        fence           bigint not null default 0 constraint coupons_fence check (fence >= 0),
        created_at      timestamptz(3) not null default now(),
        constraint coupons_id_fits check (id between 1 and 9007199254740991),
        constraint coupons_never_oversold check (issued <= total),
        constraint coupons_percent check (discount_type = 'FIXED' or discount_value <= 100),
        constraint coupons_window check (ends_at > starts_at)
      )`);
    await runner.query(`
      create table user_coupons (
        id          uuid primary key,
        coupon_id   bigint not null constraint user_coupons_coupon references coupons (id),
        user_id     text not null constraint user_coupons_user check (char_length(user_id) between 1 and 255),
        serial      integer not null constraint user_coupons_serial check (serial >= 1),
        nth         integer not null constraint user_coupons_nth check (nth >= 1),
        status      text not null default 'ISSUED'
          constraint user_coupons_status check (status in ('ISSUED', 'RESERVED', 'USED', 'EXPIRED', 'REVOKED')),
        order_id    uuid,
        issued_at   timestamptz(3) not null,
        expires_at  timestamptz(3),
        constraint user_coupons_serial_once unique (coupon_id, serial),
        constraint user_coupons_nth_once unique (coupon_id, user_id, nth),
        constraint user_coupons_validity check (expires_at > issued_at),
        constraint user_coupons_order check ((status in ('RESERVED', 'USED')) = (order_id is not null))
      )`);
    // "My coupons", newest first: one range of this index is one page.
    await runner.query('create index user_coupons_of_user on user_coupons (user_id, id)');
    await runner.query(idempotencyTableSql);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
