import { describe, expect, it } from 'vitest';
import { loadConfig } from './config.js';

const good = {
  ORDER_DATABASE_URL: 'postgres://u:p@localhost/order',
  REDIS_URL: 'redis://localhost:6379',
  JWT_SECRET: 'x'.repeat(32),
  SERVICE_TOKEN: 'y'.repeat(16),
};

describe('the configuration of order', () => {
  it('has the defaults of the contract', () => {
    expect(loadConfig(good)).toMatchObject({
      port: 3002,
      stockStrategy: 'sorted',
      coupon: { url: 'http://127.0.0.1:3001' },
      orderTtlMs: 600_000,
      lab: false,
    });
  });

  it('reports every mistake at once, and what to do', () => {
    expect(() =>
      loadConfig({ JWT_SECRET: 'short', STOCK_STRATEGY: 'luck', ORDER_TTL_MS: '0', LAB: 'yes' }),
    ).toThrowError(
      expect.objectContaining({
        mistakes: expect.arrayContaining([
          expect.stringMatching(/^ORDER_DATABASE_URL is missing: set it to/),
          expect.stringMatching(/^REDIS_URL, .*: set exactly one/),
          expect.stringMatching(/^JWT_SECRET must be at least 32/),
          expect.stringMatching(/^SERVICE_TOKEN is missing/),
          expect.stringMatching(/^STOCK_STRATEGY must be one of sorted/),
          expect.stringMatching(/^ORDER_TTL_MS must be a whole number from 1/),
          expect.stringMatching(/^LAB must be one of 0, 1/),
        ]) as string[],
      }) as Error,
    );
  });

  it.each(['none', 'unsorted'])('keeps the strategy %s for the lab', (name) => {
    expect(() => loadConfig({ ...good, STOCK_STRATEGY: name })).toThrowError(/is for the lab/);
    expect(loadConfig({ ...good, STOCK_STRATEGY: name, LAB: '1' }).stockStrategy).toBe(name);
  });

  it('takes saga for the coordination unless it is told 2pc, and nothing else', () => {
    expect(loadConfig(good).coordination).toBe('saga');
    expect(loadConfig({ ...good, COORDINATION: '2pc' }).coordination).toBe('2pc');
    expect(() => loadConfig({ ...good, COORDINATION: '3pc' })).toThrowError(/COORDINATION must be one of saga, 2pc/);
  });

  it('takes secrets from files', () => {
    const { ORDER_DATABASE_URL: _, ...rest } = good;
    expect(() => loadConfig({ ...rest, ORDER_DATABASE_URL_FILE: '/absent' })).toThrowError(
      /has 1 mistake[^]*ORDER_DATABASE_URL_FILE cannot be read \(ENOENT\)/,
    );
  });
});
