import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from './config.js';

const good = {
  COUPON_DATABASE_URL: 'postgres://u:p@localhost/coupon',
  REDIS_URL: 'redis://localhost:6379',
  JWT_SECRET: 'x'.repeat(32),
  SERVICE_TOKEN: 'y'.repeat(16),
};

describe('the configuration of coupon', () => {
  it('has the defaults of the contract', () => {
    expect(loadConfig(good)).toMatchObject({
      port: 3001,
      issueStrategy: 'batched',
      lock: { ttlMs: 5000, waitMs: 10_000, recheckMs: 1000, maxWaiters: 10_000 },
      lab: false,
      redis: { url: good.REDIS_URL },
    });
  });

  it('reports every mistake at once, and what to do', () => {
    const bad = {
      JWT_SECRET: 'short',
      PORT: '70000',
      LAB: 'yes',
      LAB_BACKOFF: '0',
      ISSUE_STRATEGY: 'luck',
      LOCK_TTL_MS: '1e3',
      JWT_JWKS_URL: 'https://a',
    };
    expect(() => loadConfig(bad)).toThrowError(
      expect.objectContaining({
        mistakes: expect.arrayContaining([
          expect.stringMatching(/^COUPON_DATABASE_URL is missing: set it to/),
          expect.stringMatching(/^REDIS_URL, .*: set exactly one \(none is set\)/),
          expect.stringMatching(/^JWT_SECRET must be at least 32/),
          expect.stringMatching(/^SERVICE_TOKEN is missing/),
          expect.stringMatching(/^PORT must be a whole number/),
          expect.stringMatching(/^LAB must be one of 0, 1/),
          expect.stringMatching(/^LAB_BACKOFF must be a number from 0.01 to 100/),
          expect.stringMatching(/^LAB_BACKOFF is for the lab/),
          expect.stringMatching(/^ISSUE_STRATEGY must be one of batched, atomic, optimistic, .*, none/),
          expect.stringMatching(/^LOCK_TTL_MS must be/),
          expect.stringMatching(/^JWT_JWKS_URL is not served yet/),
        ]) as string[],
      }) as Error,
    );
  });

  it('never prints a value: it may be a secret', () => {
    const bad = { ...good, JWT_SECRET: 'hush', COUPON_DATABASE_URL: 'mysql://u:hush@x', REDIS_URL: 'http://hush' };
    expect(() => loadConfig(bad)).toThrowError(/^(?![^]*hush)[^]*JWT_SECRET[^]*$/);
  });

  it('takes secrets from files, and refuses a variable that is there twice or a file that is not', () => {
    const folder = mkdtempSync(join(tmpdir(), 'firstcome-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'secret');
    writeFileSync(file, `${'z'.repeat(40)}\n`);
    const { JWT_SECRET: _, ...rest } = good;
    expect(loadConfig({ ...rest, JWT_SECRET_FILE: file }).auth.secret).toBe('z'.repeat(40));
    expect(() => loadConfig({ ...good, JWT_SECRET_FILE: file })).toThrowError(/both set: remove one/);
    expect(() => loadConfig({ ...rest, JWT_SECRET_FILE: '/absent' })).toThrowError(
      /has 1 mistake[^]*JWT_SECRET_FILE cannot be read \(ENOENT\)/,
    );
  });

  it('knows what a strategy needs: servers for redlock, an odd number of them, and the lab for none', () => {
    const servers = 'redis://a:1,redis://b:1,redis://:hush@c:1';
    expect(loadConfig({ ...good, ISSUE_STRATEGY: 'redlock', REDLOCK_URLS: servers }).redlockUrls).toHaveLength(3);
    expect(() => loadConfig({ ...good, ISSUE_STRATEGY: 'redlock' })).toThrowError(/REDLOCK_URLS is missing/);
    expect(() => loadConfig({ ...good, REDLOCK_URLS: 'redis://a:1,redis://b:1' })).toThrowError(/an odd number/);
    expect(() => loadConfig({ ...good, REDLOCK_URLS: 'http://a' })).toThrowError(/REDLOCK_URLS must be redis:/);
    expect(() => loadConfig({ ...good, ISSUE_STRATEGY: 'none' })).toThrowError(/for the lab only/);
    expect(loadConfig({ ...good, ISSUE_STRATEGY: 'none', LAB: '1' }).issueStrategy).toBe('none');
  });

  it('takes an empty variable for an unset one', () => {
    expect(loadConfig({ ...good, PORT: '', REDIS_SENTINELS: '' }).port).toBe(3001);
  });
});
