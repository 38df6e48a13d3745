import type { MigrationInterface, QueryRunner } from 'typeorm';

// What the strategies need of an option: a version to find unchanged (optimistic), the highest fence that has written
// (spin, pubsub). And the unguarded books of `none`: no CHECK, no foreign key, nothing that could stop it overselling.
export class StockStrategies1763400000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table options
        add column version bigint not null default 0 constraint options_version check (version >= 0),
        add column fence   bigint not null default 0 constraint options_fence check (fence >= 0)`);
    await runner.query(`
      create table lab_option_stock (
        option_id  bigint primary key,
        total      bigint not null,
        left_over  bigint not null
      )`);
    await runner.query(`
      create table lab_orders (
        order_id    uuid,
        option_id   bigint,
        quantity    integer not null,
        user_id     text not null,
        created_at  timestamptz(3) not null default now(),
        primary key (order_id, option_id)
      )`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
