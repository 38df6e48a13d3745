import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testRedisUrl } from '../support/servers.js';

const root = resolve(import.meta.dirname, '../..');
const library = join(root, 'libs/lock');
let folder: string;

function run(program: string, args: string[], cwd = folder): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** As somebody else's project: the tarball, and the peers that they have. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'firstcome-package-'));
  // Whatever npm was told by the one that runs the tests (npx says: no scripts) does not hold for this one.
  run('npm', ['pack', library, '--silent', '--ignore-scripts=false', '--pack-destination', folder]);
  const [tarball] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const home = join(folder, 'node_modules/@firstcome/lock');
  mkdirSync(home, { recursive: true });
  run('tar', ['-xzf', join(folder, tarball ?? ''), '--strip-components=1', '-C', home]);
  for (const peer of ['ioredis', '@nestjs', 'prom-client', 'reflect-metadata', 'rxjs', '@types']) {
    symlinkSync(join(root, 'node_modules', peer), join(folder, 'node_modules', peer));
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
}, 240_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed library', () => {
  it('works installed somewhere else, its Lua scripts included', () => {
    writeFileSync(
      join(folder, 'use.mjs'),
      `import { Redis } from 'ioredis';
       import { createLocks, redisStore } from '@firstcome/lock';
       import { LockModule } from '@firstcome/lock/nest';
       import { lockContract } from '@firstcome/lock/testing';
       const redis = new Redis(${JSON.stringify(testRedisUrl())});
       const locks = createLocks({ store: redisStore(redis) });
       const fence = await locks.withLock('packed', async (lease) => lease.fence, { strategy: 'queue' });
       await locks.close();
       redis.disconnect();
       console.log(fence > 0, typeof LockModule.forRoot, typeof lockContract);`,
    );
    expect(run(process.execPath, ['use.mjs']).trim()).toBe('true function function');
  });

  it('needs neither Nest nor prom-client where only the core is used', () => {
    rmSync(join(folder, 'node_modules/@nestjs'));
    rmSync(join(folder, 'node_modules/prom-client'));
    writeFileSync(
      join(folder, 'core.mjs'),
      `import { createLocks, memoryStore } from '@firstcome/lock';
       const locks = createLocks({ store: memoryStore() });
       console.log(await locks.withLock('core', async () => 'ran'));`,
    );
    expect(run(process.execPath, ['core.mjs']).trim()).toBe('ran');
    symlinkSync(join(root, 'node_modules/@nestjs'), join(folder, 'node_modules/@nestjs'));
    symlinkSync(join(root, 'node_modules/prom-client'), join(folder, 'node_modules/prom-client'));
  });

  it('has types that a strict compiler accepts', () => {
    writeFileSync(
      join(folder, 'typed.ts'),
      `import { createLocks, memoryStore, type Lease } from '@firstcome/lock';
       import { DistributedLock, LockModule } from '@firstcome/lock/nest';
       export const locks = createLocks({ store: memoryStore(), defaults: { ttlMs: 1000 } });
       export const fence: Promise<number> = locks.withLock(['a', 'b'], async (lease: Lease) => lease.fence);
       export const module = LockModule.forRoot({ store: memoryStore() });
       export class Service {
         @DistributedLock({ key: (id: string) => 'order:' + id })
         async place(id: string): Promise<string> { return id; }
       }`,
    );
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2023', '--experimentalDecorators'];
    const types = ['--lib', 'es2023,esnext.disposable', '--types', 'node', '--skipLibCheck'];
    run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, ...types, 'typed.ts']);
    expect(existsSync(join(library, 'dist'))).toBe(false);
  });
});
