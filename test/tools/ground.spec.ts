import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { digestSources } from '../../tools/build.mjs';
import { CHOSEN, DECIDED, serverEnvironment, without } from '../../tools/environment.mjs';
import { whyInstall } from '../../tools/install.mjs';
import { pickPorts } from '../../tools/ports.mjs';
import { findPostgres, findRedis, findShippedPostgres, findShippedRedis } from '../../tools/programs.mjs';
import { signToken } from '../../tools/tokens.mjs';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'firstcome ground-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string) => {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
};

const lock = (version: string) =>
  JSON.stringify({
    packages: { '': {}, 'node_modules/a': { version }, 'node_modules/b': { version: '1.0.0', optional: true } },
  });

const taken =
  (...ports: number[]) =>
  async (port: number) =>
    !ports.includes(port);

describe('ports', () => {
  it('are the wanted ones where they are free', async () => {
    expect(await pickPorts([3001, 3011, 3002, 3012], taken())).toEqual([3001, 3011, 3002, 3012]);
  });

  it('are the next free ones that nobody else here wants where they are taken', async () => {
    expect(await pickPorts([3001, 3011, 3002, 3012], taken(3001, 3003, 3011))).toEqual([3004, 3013, 3002, 3012]);
  });
});

describe('the environment of a child', () => {
  it('has none of the variables that npm start or npm test decides, nor their files, nor what pg would listen to', () => {
    const names = [
      'REDIS_URL',
      'JWT_SECRET',
      'JWT_SECRET_FILE',
      'PORT',
      'LOCK_TTL_MS',
      'PGHOST',
      'PGOPTIONS',
      'npm_config_x',
    ];
    const env = Object.fromEntries([...names, 'PATH', 'HOME'].map((name) => [name, 'set']));
    expect(without(env, [...DECIDED, ...CHOSEN])).toEqual({ PATH: 'set', HOME: 'set' });
  });

  it('of a server holds no secret of the caller', () => {
    const given = serverEnvironment({ PATH: '/bin', JWT_SECRET: 'x', PGPASSWORD: 'y' });
    expect(Object.keys(given).toSorted()).toEqual(['LC_ALL', 'PATH', 'TZ']);
  });
});

describe('installing', () => {
  it('is due when nothing is installed, or a package is missing or of another version', () => {
    write('package-lock.json', lock('1.0.0'));
    expect(whyInstall(folder)).toBe('nothing is installed yet');
    write('node_modules/.package-lock.json', lock('1.0.0'));
    expect(whyInstall(folder)).toBe('node_modules/a is missing');
    write('node_modules/a/package.json', '{}');
    write('package-lock.json', lock('1.0.1'));
    expect(whyInstall(folder)).toBe('node_modules/a is 1.0.0, not 1.0.1');
  });

  it('is not due when all is there but what only another platform needs', () => {
    write('package-lock.json', lock('1.0.0'));
    write('node_modules/.package-lock.json', lock('1.0.0'));
    write('node_modules/a/package.json', '{}');
    expect(whyInstall(folder)).toBeUndefined();
  });
});

describe('building', () => {
  it('is due when a source changed, and not for a spec or for the other app', () => {
    write('apps/coupon/src/main.ts', 'one');
    const before = digestSources('coupon', folder);
    write('apps/coupon/src/main.spec.ts', 'a test');
    write('apps/order/src/main.ts', 'two');
    expect(digestSources('coupon', folder)).toBe(before);
    write('libs/http/src/index.ts', 'three');
    expect(digestSources('coupon', folder)).not.toBe(before);
  });
});

describe('server programs', () => {
  it('those that npm ships run here', () => {
    expect(findShippedPostgres()).toMatchObject({ version: { major: 18 } });
    expect(findShippedRedis()).toMatchObject({ shipped: true });
  });

  it('of this machine are found with their version, or the reason is given', () => {
    for (const found of [findPostgres(), findRedis()]) {
      const said = 'missing' in found ? found.missing : found.version?.text;
      expect(said).toMatch(/^\d+(\.\d+)*$|on this machine|older than/);
    }
  });
});

describe('tokens', () => {
  it('carry sub and role and last 24 hours', async () => {
    const key = 'a secret of at least thirty-two characters';
    const token = signToken({ sub: 'alice', role: 'admin' }, key);
    const { payload } = await jwtVerify(token, Buffer.from(key), { issuer: 'firstcome', audience: 'firstcome' });
    expect(payload).toMatchObject({ sub: 'alice', role: 'admin' });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(24 * 3600);
  });
});
