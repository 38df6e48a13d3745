import { Gauge, register } from 'prom-client';
import type { Database } from './database.js';

const POOL = 'firstcome_database_pool_connections';
const counted = new Map<string, Database>();

/** One gauge for all pools of the process; a database counted under a name replaces an earlier, closed one. */
export function countPool(database: Database, name: string): Database {
  counted.set(name, database);
  if (!register.getSingleMetric(POOL)) {
    new Gauge({
      name: POOL,
      help: 'Connections of the pool (total, idle) and callers waiting for one (waiting)',
      labelNames: ['database', 'state'],
      collect() {
        for (const [label, each] of counted) {
          for (const [state, count] of Object.entries(each.poolStats())) this.set({ database: label, state }, count);
        }
      },
    });
  }
  return database;
}
