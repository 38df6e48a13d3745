import { ticketTableSql } from '@firstcome/http';
import type { MigrationInterface, QueryRunner } from 'typeorm';

// Requests that were accepted while the lock's backend was away (LOCK_BACKEND_DOWN=defer), and what became of them.
export class Tickets1763400000008 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ticketTableSql);
  }

  async down(): Promise<void> {
    throw new Error('Migrations of Firstcome only go forward: write a new one that undoes this one.');
  }
}
