import { readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import * as errors from './src/errors.js';
import { lockMetrics } from './src/metrics.js';
import { lockProblem } from './src/nest/problem.js';
import { defaultOptions } from './src/options.js';

const readme = readFileSync(new URL('./README.md', import.meta.url), 'utf8');

/** The cells of the tables of a section, without their headings. */
function tableUnder(heading: string): string[][] {
  const [, after = ''] = readme.split(`\n## ${heading}\n`);
  const section = after.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

describe('the README', () => {
  it('has every option with its default', () => {
    const documented = tableUnder('Options').map(([name, value]) => `${name} ${value}`);
    const actual = Object.entries(defaultOptions).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
    expect(documented).toEqual([...actual, 'signal none']);
  });

  it.each(['src/locks-options.ts LocksOptions', 'src/stores/redis/redis-store.ts RedisStoreOptions'])(
    'names every option of %s',
    (place) => {
      const [path = '', name = ''] = place.split(' ');
      const source = readFileSync(new URL(path, import.meta.url), 'utf8');
      const [, body = ''] = new RegExp(`interface ${name} \\{\\n([^]*?)\\n\\}`).exec(source) ?? [];
      const options = [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, option]) => option!);
      expect(options.length).toBeGreaterThan(3);
      expect(options.filter((option) => !readme.includes(`\`${option}\``))).toEqual([]);
    },
  );

  it('has every error with its code and the problem it becomes', () => {
    const about = { key: 'k' };
    const all = [
      new errors.LockWaitTimeoutError(about),
      new errors.LockBusyError(about),
      new errors.LockLostError('gone', about),
      new errors.LockAbortedError('signal', about),
      new errors.LockBackendError('away', about),
      new errors.LockQueueFullError(1, 1, about),
      new errors.StaleFenceError(1, 2, about),
      new errors.LockUsageError('wrong'),
    ];
    expect(all.length, 'an error class is missing here').toBe(Object.keys(errors).length - 1);
    const actual = all.map((error) => {
      const problem = lockProblem(error);
      return [error.name, error.code, problem ? `${problem.status} ${problem.code}` : 'a bug: not translated'];
    });
    expect(tableUnder('Errors').map((cells) => cells.slice(0, 3))).toEqual(actual);
  });

  it('has every metric with its labels', async () => {
    const registry = new Registry();
    lockMetrics(registry);
    const metrics = registry.getMetricsAsArray() as unknown as { name: string; labelNames: string[] }[];
    const actual = metrics.map(({ name, labelNames }) => `${name} ${labelNames.join(', ')}`);
    const documented = tableUnder('Metrics').map(([name, labels]) => `${name} ${labels}`);
    expect(documented.toSorted()).toEqual(actual.toSorted());
  });

  it('names only commands that exist', () => {
    const root = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = [...readme.matchAll(/npm (?:run )?((?!run|install|pack)[a-z:]+)/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !(name in root.scripts))).toEqual([]);
  });

  it('names for an ACL every command that the scripts call', () => {
    const folder = new URL('./src/stores/redis/scripts/', import.meta.url);
    const scripts = [
      'acquire',
      'draw-fences',
      'hand-on',
      'inspect',
      'queue-join',
      'queue-leave',
      'raise',
      'release',
      'renew',
    ];
    const called = scripts.flatMap((name) => [
      ...readFileSync(new URL(`${name}.lua`, folder), 'utf8').matchAll(/redis\.call\('([A-Z]+)'/g),
    ]);
    const [, acl = ''] = readme.split('For an ACL:');
    expect([...new Set(called.map(([, command]) => command!))].filter((command) => !acl.includes(command))).toEqual([]);
  });
});
