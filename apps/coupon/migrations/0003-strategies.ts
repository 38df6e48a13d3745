import type { MigrationInterface, QueryRunner } from 'typeorm';

// What the issue strategies need: a version for those that look first, a fence per store of locks (fences of two stores
// cannot be compared), and tables of its own for `none`, which guards nothing: no constraint here may come to its rescue.
export class Strategies1763400000003 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table coupons
        add column version bigint not null default 0 constraint coupons_version check (version >= 0),
        add column redlock_fence bigint not null default 0 constraint coupons_redlock_fence check (redlock_fence >= 0)`);
    await runner.query(`
      create table lab_coupons (
        coupon_id  bigint primary key,
        issued     integer not null default 0
      )`);
    await runner.query(`
      create table lab_user_coupons (
        id          uuid primary key,
        coupon_id   bigint not null,
        user_id     text not null,
        serial      integer not null,
        issued_at   timestamptz(3) not null,
        expires_at  timestamptz(3)
      )`);
    await runner.query('create index lab_user_coupons_of_user on lab_user_coupons (coupon_id, user_id)');
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
