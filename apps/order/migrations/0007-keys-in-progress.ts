import { idempotencyInProgressSql } from '@firstcome/http';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// An order with a coupon takes several transactions, and its process may die between them: its key is in progress all the same.
export class KeysInProgress1763400000007 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(idempotencyInProgressSql);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
