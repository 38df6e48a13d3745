import { idempotencyTableSql } from '@firstcome/http';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// The rules that no strategy may break stand here, where no bug in the application can walk round them: stock is never
// below what is reserved, a wallet never below zero, an order is paid at most once and spends at most once.
export class Orders1763400000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table products (
        id          bigint generated always as identity primary key,
        name        text not null constraint products_name check (char_length(name) between 1 and 100),
        created_at  timestamptz(3) not null default now(),
        constraint products_id_fits check (id between 1 and 9007199254740991)
      )`);
    // initial_stock never changes: with the adjustments it is what invariant I3 counts from.
    await runner.query(`
      create table options (
        id             bigint generated always as identity primary key,
        product_id     bigint not null constraint options_product references products (id),
        position       integer not null constraint options_position check (position >= 1),
        name           text not null constraint options_name check (char_length(name) between 1 and 100),
        price          bigint not null constraint options_price check (price between 0 and 9007199254740991),
        initial_stock  bigint not null constraint options_initial_stock check (initial_stock between 0 and 9007199254740991),
        on_hand        bigint not null constraint options_on_hand check (on_hand <= 9007199254740991),
        reserved       bigint not null default 0,
        constraint options_id_fits check (id between 1 and 9007199254740991),
        constraint options_never_oversold check (0 <= reserved and reserved <= on_hand),
        constraint options_position_once unique (product_id, position)
      )`);
    await runner.query(`
      create table stock_adjustments (
        id          bigint generated always as identity primary key,
        option_id   bigint not null constraint stock_adjustments_option references options (id),
        delta       bigint not null constraint stock_adjustments_delta check (delta <> 0),
        reason      text not null constraint stock_adjustments_reason check (char_length(reason) between 1 and 200),
        admin_id    text not null constraint stock_adjustments_admin check (char_length(admin_id) between 1 and 255),
        created_at  timestamptz(3) not null default now()
      )`);
    await runner.query(`
      create table wallets (
        user_id  text primary key constraint wallets_user check (char_length(user_id) between 1 and 255),
        balance  bigint not null constraint wallets_balance check (balance between 0 and 10000000)
      )`);
    await runner.query(`
      create table orders (
        id              uuid primary key,
        user_id         text not null constraint orders_user check (char_length(user_id) between 1 and 255),
        status          text not null default 'PENDING_PAYMENT'
          constraint orders_status check (status in ('PENDING_PAYMENT', 'PAID', 'CANCELLED', 'EXPIRED', 'REFUNDED')),
        subtotal        bigint not null constraint orders_subtotal check (subtotal between 0 and 9007199254740991),
        discount        bigint not null default 0,
        total           bigint not null constraint orders_total check (total = subtotal - discount),
        user_coupon_id  uuid,
        created_at      timestamptz(3) not null default now(),
        expires_at      timestamptz(3) not null,
        paid_at         timestamptz(3),
        constraint orders_discount check (discount between 0 and subtotal),
        constraint orders_discount_has_coupon check (discount = 0 or user_coupon_id is not null),
        constraint orders_paid_at check ((status in ('PAID', 'REFUNDED')) = (paid_at is not null)),
        constraint orders_expiry check (expires_at > created_at)
      )`);
    // "My orders", newest first, all or of one status: one range of one of these indexes is one page.
    await runner.query('create index orders_of_user on orders (user_id, id)');
    await runner.query('create index orders_of_user_by_status on orders (user_id, status, id)');
    await runner.query(`create index orders_due on orders (expires_at) where status = 'PENDING_PAYMENT'`);
    // A user coupon is in at most one live order (I5).
    await runner.query(`
      create unique index orders_coupon_once on orders (user_coupon_id) where status in ('PENDING_PAYMENT', 'PAID')`);
    // The name and the price are copied: what was ordered does not change when the catalogue does.
    await runner.query(`
      create table order_items (
        order_id   uuid constraint order_items_order references orders (id),
        option_id  bigint constraint order_items_option references options (id),
        name       text not null,
        price      bigint not null constraint order_items_price check (price between 0 and 9007199254740991),
        quantity   integer not null constraint order_items_quantity check (quantity between 1 and 1000),
        primary key (order_id, option_id)
      )`);
    await runner.query(`
      create table payments (
        id          uuid primary key,
        order_id    uuid not null constraint payments_order references orders (id),
        method      text not null constraint payments_method check (method in ('POINTS')),
        amount      bigint not null constraint payments_amount check (amount >= 0),
        created_at  timestamptz(3) not null default now(),
        constraint payments_once unique (order_id)
      )`);
    // The id is drawn while the wallet's row is locked, so that a user's entries are numbered in the order of their effect.
    await runner.query(`
      create table points_ledger (
        id          bigint generated always as identity primary key,
        user_id     text not null constraint points_ledger_wallet references wallets (user_id),
        kind        text not null constraint points_ledger_kind check (kind in ('CHARGE', 'SPEND', 'REFUND')),
        amount      bigint not null,
        balance     bigint not null constraint points_ledger_balance check (balance between 0 and 10000000),
        order_id    uuid constraint points_ledger_order references orders (id),
        created_at  timestamptz(3) not null default now(),
        constraint points_ledger_id_fits check (id between 1 and 9007199254740991),
        constraint points_ledger_once unique (order_id, kind),
        constraint points_ledger_order_known check ((kind = 'CHARGE') = (order_id is null)),
        constraint points_ledger_sign check (case kind when 'CHARGE' then amount > 0 when 'SPEND' then amount <= 0 else amount >= 0 end)
      )`);
    await runner.query('create index points_ledger_of_user on points_ledger (user_id, id)');
    // json, not jsonb: the data is shown as it was written and nothing searches inside it.
    await runner.query(`
      create table order_events (
        order_id    uuid constraint order_events_order references orders (id),
        seq         integer constraint order_events_seq check (seq >= 1),
        type        text not null,
        data        json not null,
        created_at  timestamptz(3) not null default now(),
        primary key (order_id, seq)
      )`);
    await runner.query(idempotencyTableSql);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
