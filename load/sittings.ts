// run.json: what a folder of results is a run of, and the sittings in which it was made. A folder holds one run: blocks of two
// profiles or of two seeds are no comparison.
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BlockResult } from './block.js';
import type { Environment } from './environment.js';
import type { ProfileName } from './plan.js';
import { LoadError } from './progress.js';
import type { Results } from './report/results.js';

/** One command that worked on a run: the first began it, the others went on with it. */
export interface Sitting {
  commit: string;
  command: string;
  date: string;
  /** How many of the run's blocks were measured in it. */
  blocks?: number;
}

export interface Run {
  folder: string;
  profile: ProfileName;
  seed: number;
  /** Of the first sitting. */
  environment?: Environment;
  sittings: Sitting[];
}

type Kept = Omit<Run, 'folder'>;

interface Asked {
  folder: string;
  resume: boolean;
  profile?: ProfileName | undefined;
  seed?: number | undefined;
}

/** The run that this command is to begin or to go on with. Nothing is written yet. */
export function openRun({ folder, resume, profile, seed }: Asked): Run {
  const before = existsSync(folder) ? keptIn(folder, profile) : undefined;
  if (!resume) {
    if (before)
      throw new LoadError(
        `${folder} holds a run already. --resume ${folder} goes on with it; --into <folder> begins another one elsewhere.`,
      );
    return { folder, profile: profile ?? 'standard', seed: seed ?? anySeed(), sittings: [] };
  }
  if (!before) throw new LoadError(`--resume ${folder}: there is no run to go on with.`);
  const run = { ...before, folder, seed: before.seed ?? seed ?? anySeed() };
  if (profile !== undefined && profile !== run.profile)
    throw new LoadError(`${folder} holds a run of profile ${run.profile}: it cannot go on with --profile ${profile}.`);
  if (seed !== undefined && seed !== run.seed)
    throw new LoadError(`${folder} holds a run of seed ${run.seed}: it cannot go on with --seed ${seed}.`);
  return run;
}

const anySeed = () => Math.floor(Math.random() * 1_000_000);

function keptIn(folder: string, profile?: ProfileName): (Omit<Kept, 'seed'> & { seed?: number }) | undefined {
  return readJson<Kept>(join(folder, 'run.json')) ?? keptBefore(folder, profile);
}

/** A run of the time before run.json: what it left says what it can. */
function keptBefore(folder: string, profile: ProfileName = 'standard') {
  const results = readJson<Results>(join(folder, 'results.json'));
  const seedFile = join(folder, 'seed.txt');
  const raw = join(folder, 'raw');
  const isMeasured = existsSync(raw) && readdirSync(raw).some((name) => name.endsWith('.json'));
  if (!results && !existsSync(seedFile) && !isMeasured) return undefined;
  const seed = existsSync(seedFile) ? Number(readFileSync(seedFile, 'utf8')) : results?.seed;
  const { environment } = results ?? {};
  return {
    profile: results?.profile ?? profile,
    ...(seed !== undefined && { seed }),
    ...(environment && { environment }),
    sittings: environment ? [sittingOf(environment)] : [],
  };
}

const sittingOf = ({ commit, command, date }: Environment): Sitting => ({ commit, command, date });

function readJson<T>(file: string): T | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : undefined;
}

/** Writes into run.json that this command works on it now. */
export function sitDown(run: Run, now: Environment): Run & { environment: Environment } {
  const { folder, profile, seed } = run;
  const environment = run.environment ?? now;
  const sittings = [...run.sittings, sittingOf(now)];
  const kept: Kept = { profile, seed, sittings, environment };
  const file = join(folder, 'run.json');
  writeFileSync(`${file}.part`, `${JSON.stringify(kept, null, 1)}\n`);
  renameSync(`${file}.part`, file);
  return { ...kept, folder, environment };
}

/** How many blocks each sitting measured. What is older than the first that is known was measured in none of them. */
export function countedSittings({ sittings }: Pick<Run, 'sittings'>, blocks: readonly BlockResult[]): Sitting[] {
  return sittings.map((sitting, place) => {
    const next = sittings[place + 1]?.date;
    const own = blocks.filter(({ startedAt }) => startedAt >= sitting.date && (next === undefined || startedAt < next));
    return { ...sitting, blocks: own.length };
  });
}
