import type { MigrationInterface, QueryRunner } from 'typeorm';

// What was paid lately is one range of this index, however many orders there ever were.
export class PopularProducts1763400000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`create index orders_paid_lately on orders (paid_at) where status = 'PAID'`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
