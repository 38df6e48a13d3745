// results.json: everything the report says, and what it was said from. Its schema is load/results.schema.json, written from
// here by `npx tsx load/report/results.ts`; a spec compares.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { BlockResult } from '../block.js';
import type { Environment } from '../environment.js';
import { profileNames, scenarioNames } from '../plan.js';
import type { ProfileName } from '../plan.js';
import type { Sitting } from '../sittings.js';

export interface Results {
  format: 'firstcome-load-1';
  /** Of the first sitting. */
  environment: Environment;
  /** All of them, where the run was made since it says so. */
  sittings?: Sitting[];
  profile: ProfileName;
  seed: number;
  /** Blocks that were planned and for which no time was left. */
  left: number;
  blocks: BlockResult[];
}

const count = z.int().nonnegative();
const number = z.number();
const text = z.string();
const phase = z.object({ name: text, startSeconds: number, seconds: number, rate: number, first: count });
const distribution = z.object({
  count,
  mean: number,
  p50: number,
  p90: number,
  p99: number,
  max: number,
  curve: z.array(number),
});

const figures = z.object({
  requests: count,
  outcomes: z.object({ acknowledged: count, refused: count, contended: count, unknown: count, unexpected: count }),
  answers: z.record(text, count),
  latency: z.record(text, distribution),
  phases: z.array(
    z.object({
      name: text,
      rate: number,
      requests: count,
      acknowledged: count,
      contended: count,
      p50: number.optional(),
      p99: number.optional(),
      goodput: number,
    }),
  ),
  soldOutMs: number.optional(),
  goodput: number.optional(),
  serverTiming: z.object({ lock: distribution, hold: distribution, db: distribution }).optional(),
  fairness: z
    .object({
      inversions: number,
      inversionsWithinInstance: number.optional(),
      sample: z.array(z.object({ arrived: count, serial: count })),
    })
    .optional(),
});

const cost = z.object({
  redisCommands: number,
  redisScripts: number,
  transactions: number,
  deadlocks: number,
  redisCpuSeconds: number,
  redisServers: count.optional(),
  appCpuSeconds: number.optional(),
  postgresCpuSeconds: number.optional(),
  k6CpuSeconds: number.optional(),
  safetyNetTrips: number.optional(),
  optimisticRetries: number.optional(),
  meanBatch: number.optional(),
  peak: z.object({ postgresConnections: count, redisConnections: count }),
});

const verdict = z.enum(['exact', 'oversold', 'blind', 'breach', 'refused']);

const block = z.object({
  id: text,
  scenario: z.enum(scenarioNames),
  mode: z.enum(['knee', 'curve', 'sweep']).optional(),
  rates: z.array(number).optional(),
  loads: z.object({ slowestKnee: number, medianKnee: number, orderKnee: number.optional() }).optional(),
  sweep: z.object({ keys: count, holdMs: count, backoff: number.optional() }).optional(),
  strategy: text,
  round: count,
  seed: count,
  verdict,
  reasons: z.array(text),
  commit: text.optional(),
  earlier: z.array(z.object({ verdict, reasons: z.array(text) })).optional(),
  startedAt: z.iso.datetime(),
  tookMs: count,
  offered: z.array(phase),
  supply: count.optional(),
  sold: count.optional(),
  k6: z.object({ version: text, exitCode: z.int(), arrived: count.optional(), dropped: count.optional() }),
  quiet: z.boolean(),
  figures,
  knee: z
    .object({ rate: number, gaveWayAt: number.optional(), why: text, belowFirst: z.literal(true).optional() })
    .optional(),
  cost,
  findings: z.array(z.unknown()),
  clientLog: text,
});

const environment = z.object({
  date: z.iso.datetime(),
  commit: text,
  uncommitted: count,
  machine: z.object({ system: text, cpu: text, cores: count, memoryGb: count }),
  versions: z.object({ node: text, k6: text, k6From: text, postgres: text, redis: text }),
  instances: z.object({ coupon: count, order: count }),
  settings: z.object({
    postgres: z.record(text, text),
    lock: z.record(text, text),
    redis: z.record(text, text).optional(),
  }),
  command: text,
});

const sitting = z.object({ commit: text, command: text, date: z.iso.datetime(), blocks: count.optional() });

export const resultsSchema: z.ZodType<Results> = z.object({
  format: z.literal('firstcome-load-1'),
  environment,
  sittings: z.array(sitting).optional(),
  profile: z.enum(profileNames),
  seed: count,
  left: count,
  blocks: z.array(block),
});

export const schemaFile = fileURLToPath(new URL('../results.schema.json', import.meta.url));
export const schemaText = (): string => `${JSON.stringify(z.toJSONSchema(resultsSchema), null, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(schemaFile, schemaText());
