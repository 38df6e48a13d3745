import { purgeTableSql } from '@firstcome/http';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// Up to when keys were purged. The index that finds the old ones has been there from the start.
export class IdempotencyPurges1763400000009 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(purgeTableSql);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
