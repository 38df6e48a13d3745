import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { contenders, measure } from './contenders/index.js';
import type { BlockFigures } from './figures.js';
import { planOf } from './plan.js';
import { betweenMarkers, markdown } from './publish.js';
import type { Results } from './results.js';

const figures = (perSecond: number): BlockFigures => ({
  turns: 10,
  perSecond,
  gapMs: { p50: 0.5, p99: 1 },
  waitMs: { p50: 1, p99: 2 },
  failures: {},
  starved: 0,
  inversionShare: 0.25,
  overlaps: 0,
  nodeCpuUs: 10,
  redisCpuUs: 10,
  longestGapMs: 1,
  leastShare: 0.5,
});

/** The default plan, in which the measure is ten times as fast as everybody else. */
function results(): Results {
  const { cells, ...plan } = planOf({ size: 'default' });
  return {
    format: 1,
    environment: { date: '2026-01-02', commit: 'abc1234', node: '20.0.0', redis: '7.0.0', cpu: 'a CPU', cores: 2, loadBefore: 0, loadAfter: 1 }, // prettier-ignore
    command: 'npm run bench',
    plan,
    missing: [{ contender: 'redlock', reason: 'not installed' }],
    cells: cells.map(({ contenders: names, counted, ...cell }) => ({
      ...cell,
      rows: names.map((contender) => ({
        contender,
        blocks: contender === 'redlock' ? [] : [figures(contender === measure ? 1000 : 100)],
        ...(counted ? { counts: { turns: 10, commands: { set: 20 }, connections: 2 } } : {}),
      })),
    })),
    targets: [],
  };
}

describe('a plan', () => {
  it.each(['quick', 'default', 'full'] as const)('of size %s has every contender in an uncontended cell', (size) => {
    const [cycle] = planOf({ size }).cells.filter(({ part }) => part === 'cycle');
    expect(cycle!.contenders).toEqual(contenders.map(({ name }) => name));
  });

  it.each(['quick', 'default', 'full'] as const)('of size %s has no two cells of one name and part', (size) => {
    const names = planOf({ size }).cells.map(({ part, name }) => `${part}: ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('full is every number of waiters in every number of processes under every hold', () => {
    const cells = planOf({ size: 'full' }).cells.filter(({ part, oneShot }) => part !== 'hand-over' && !oneShot);
    // One waiter is in one process; the uncontended cell is the one without a hold.
    expect(cells.length).toBe(4 * 3 * 4 - 2 * 4);
  });

  it('keeps the measure whoever is chosen, and the control out unless it is asked for', () => {
    const chosen = planOf({ size: 'quick', contenders: ['queue', 'none'] });
    expect(chosen.cells[0]!.contenders).toEqual([measure, 'queue', 'none']);
    expect(planOf({ size: 'full' }).cells.flatMap((cell) => cell.contenders)).not.toContain('none');
  });
});

describe('what is published', () => {
  it('has a line for each contender with figures, and says of the others why not', () => {
    const text = markdown(results());
    for (const { name } of contenders.filter((each) => each.name !== 'redlock'))
      expect(text).toContain(`| \`${name}\` `);
    expect(text).not.toContain('| `redlock` ');
    expect(text).toContain('Not measured: `redlock`: not installed.');
  });

  it('is ratios within a round, and no number of turns a second', () => {
    const text = markdown(results());
    expect(text).toContain('| 10.0 ');
    expect(text).not.toMatch(/1 ?000 \(/);
  });

  it('survives being written to a file and read again, with what a block could not know', () => {
    const known = results();
    known.cells[0]!.rows[1]!.blocks.push({ ...figures(50), perSecond: NaN });
    expect(markdown(JSON.parse(JSON.stringify(known)) as Results)).toBe(markdown(known));
  });

  it('is a table whose columns stand under each other', () => {
    const lines = markdown(results()).split('\n').filter((line) => line.startsWith('|')); // prettier-ignore
    expect(lines.length).toBe(contenders.length + 1);
    expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
  });

  it('goes between the markers of the README, which are there, and touches nothing else', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const [before, rest = ''] = readme.split('<!-- bench -->');
    const [, after] = rest.split('<!-- /bench -->');
    expect(betweenMarkers(readme, 'figures')).toBe(`${before}<!-- bench -->\n\nfigures\n\n<!-- /bench -->${after}`);
  });
});
