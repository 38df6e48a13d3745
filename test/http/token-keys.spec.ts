import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey, JWK, JWTPayload } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import type { Reply } from '../support/client.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { tokenFor } from '../support/tokens.js';

interface Signer {
  alg: string;
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  published: JWK;
}

/** A real server that publishes keys, and what it was asked. */
class KeyServer {
  keys: JWK[] = [];
  asked = 0;
  answer: 'keys' | 'nothing' | 'error' | 'garbage' | 'redirect' = 'keys';
  private server: Server | undefined;
  port = 0;

  async start(): Promise<void> {
    this.server = createServer((_, response) => {
      this.asked += 1;
      if (this.answer === 'nothing') return;
      if (this.answer === 'error') response.writeHead(500).end();
      else if (this.answer === 'garbage') response.writeHead(200).end('<html>');
      else if (this.answer === 'redirect') response.writeHead(302, { location: '/elsewhere' }).end();
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: this.keys }));
    }).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as { port: number }).port;
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    this.server?.close();
    if (this.server) await once(this.server, 'close');
    this.server = undefined;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/keys`;
  }
}

const server = new KeyServer();
let database: TestDatabase;
let app: RunningApp;
let signers: Signer[];

async function signer(alg: string, kid: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  return { alg, kid, privateKey, publicKey, published: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

const claims = { sub: 'ann', iss: 'firstcome', aud: 'firstcome' };
function sign({ alg, kid, privateKey }: Signer, changes: JWTPayload = {}, header = {}): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  return new SignJWT({ ...claims, exp, ...changes }).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
}

const mine = (token: string): Promise<Reply> => call(app.url, 'GET', '/v1/me/coupons', { token });
const statusOf = async (token: string): Promise<number> => (await mine(token)).status;

/** Only the clock that cool-downs are read from: nothing here waits for real. */
function later(ms: number): void {
  vi.setSystemTime(Date.now() + ms);
}

// Each with an app of its own, which knows no key yet.
beforeAll(async () => {
  database = await createTestDatabase();
  signers = await Promise.all(['RS256', 'PS256', 'ES256', 'EdDSA'].map((alg) => signer(alg, `key-${alg}`)));
  await server.start();
});
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  server.answer = 'keys';
  server.asked = 0;
  server.keys = signers.map(({ published }) => published);
  app = await startCoupon({ COUPON_DATABASE_URL: database.url, JWT_SECRET: '', JWT_JWKS_URL: server.url });
});
afterEach(async () => {
  vi.useRealTimers();
  await app.close();
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

describe('with JWT_JWKS_URL, a token', () => {
  it('signed with a published key is good, under each of the four algorithms; the keys are fetched once', async () => {
    const tokens = await Promise.all(signers.map((each) => sign(each)));
    expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200, 200, 200]);
    expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200, 200, 200]);
    expect(server.asked).toBe(1);
    expect(await statusOf(await sign(signers[0]!, { role: 'admin' }))).toBe(200);
  });

  it('that names no key is tried with each that may have signed it', async () => {
    const [first, second] = [await signer('ES256', 'one'), await signer('ES256', 'two')];
    server.keys = [first.published, second.published];
    const [ours, theirs] = [
      await sign(second, {}, { kid: undefined }),
      await sign(await signer('ES256', 'x'), {}, { kid: undefined }),
    ];
    expect([await statusOf(ours), await statusOf(theirs)]).toEqual([200, 401]);
  });

  it('signed with another key under a published name is 401', async () => {
    for (const { alg, kid } of signers)
      expect([alg, await statusOf(await sign(await signer(alg, kid)))]).toEqual([alg, 401]);
  });

  it('of any other algorithm is 401: no secret is ever a public key', async () => {
    const rsa = signers[0]!;
    const secret = new TextEncoder().encode(await exportSPKI(rsa.publicKey));
    const header = { alg: 'HS256', kid: rsa.kid };
    const confused = await new SignJWT({ ...claims, exp: Math.floor(Date.now() / 1000) + 3600 })
      .setProtectedHeader(header)
      .sign(secret);
    const [, payload] = confused.split('.');
    const none = `${Buffer.from(JSON.stringify({ alg: 'none', kid: rsa.kid })).toString('base64url')}.${payload}.`;
    const other = await signer('RS512', 'key-RS512');
    server.keys = [...server.keys, other.published];
    const tokens = [confused, none, await sign(other), await tokenFor('ann')];
    expect(await Promise.all(tokens.map(statusOf))).toEqual([401, 401, 401, 401]);
  });

  it('that has expired, or is of another issuer, for another audience, or of nobody, is 401', async () => {
    const wrong = [{ exp: 1 }, { iss: 'elsewhere' }, { aud: 'elsewhere' }, { sub: undefined }, { exp: undefined }];
    for (const change of wrong) {
      expect([change, await statusOf(await sign(signers[2]!, change))]).toEqual([change, 401]);
    }
  });

  it('of a key that nobody knows is 401 after one look, and made-up names do not become requests', async () => {
    await statusOf(await sign(signers[0]!));
    const unknown = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => sign(await signer('ES256', `made-up-${at}`))),
    );
    later(11_000);
    expect(new Set(await Promise.all(unknown.map(statusOf)))).toEqual(new Set([401]));
    expect(server.asked).toBe(2);
  });

  it('of a rotated key is good once the cool-down is over, and one of the old key is not, once verified anew', async () => {
    const [old, fresh] = [signers[2]!, await signer('ES256', 'fresh')];
    const remembered = await sign(old);
    expect(await statusOf(remembered)).toBe(200);
    server.keys = [fresh.published];
    later(11_000);
    expect(await statusOf(await sign(fresh))).toBe(200);
    expect(server.asked).toBe(2);
    expect(await statusOf(await sign(old, { jti: 'another' }))).toBe(401);
    // Verified before: remembered until it expires.
    expect(await statusOf(remembered)).toBe(200);
  });
});

describe('while the key server', () => {
  it.each(['error', 'garbage', 'redirect', 'nothing'] as const)(
    'answers with %s, a token that may be good is 503, never 401; one that cannot be is 401 all the same',
    async (answer) => {
      server.answer = answer;
      const reply = await mine(await sign(signers[0]!));
      expect([reply.status, reply.json.code, reply.json.retryable]).toEqual([503, 'UPSTREAM_UNAVAILABLE', true]);
      expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
      expect([await statusOf('half.a.token'), await statusOf(await tokenFor('ann'))]).toEqual([401, 401]);
      server.answer = 'keys';
      later(1_100);
      expect(await statusOf(await sign(signers[0]!))).toBe(200);
    },
  );

  it('is away, known keys go on; it is asked once a second at most, and is used again when it is back', async () => {
    const good = await sign(signers[0]!);
    expect(await statusOf(good)).toBe(200);
    await server.stop();
    const unknown = await sign(await signer('ES256', 'unknown'));
    later(11_000);
    expect([await statusOf(good), await statusOf(await sign(signers[1]!))]).toEqual([200, 200]);
    expect([await statusOf(unknown), await statusOf(unknown)]).toEqual([503, 503]);
    await server.start();
    const asked = server.asked;
    expect(await statusOf(unknown)).toBe(503);
    expect(server.asked).toBe(asked);
    later(1_100);
    expect(await statusOf(unknown)).toBe(401);
    expect(server.asked).toBe(asked + 1);
  });
});
