import { Redis } from 'ioredis';
import { WebSocket } from 'ws';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { everybodyLeaves, knock, seated, sit } from '../support/desk.js';
import type { Told } from '../support/desk.js';
import { testRedisUrl } from '../support/servers.js';
import { serviceToken, tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let one: RunningApp;
let other: RunningApp;
let redis: Redis;
let admin: string;

beforeAll(async () => {
  database = await createTestDatabase();
  one = await startCoupon({ COUPON_DATABASE_URL: database.url, CORS_ORIGINS: 'https://shop.example' });
  other = await startCoupon({ COUPON_DATABASE_URL: database.url });
  redis = new Redis(testRedisUrl());
  admin = await tokenFor('root', { role: 'admin' });
});
afterEach(everybodyLeaves);
afterAll(async () => {
  await one?.close();
  await other?.close();
  redis?.disconnect();
  await database?.drop();
});

const lockOf = (couponId: number, role = 'editor') => `lock:desk:${couponId}:${role}`;
const deskAt = (app: RunningApp, couponId: number) =>
  call(app.url, 'GET', `/v1/admin/coupons/${couponId}/desk`, { token: admin });
const untilFree = async (couponId: number): Promise<void> => {
  await expect.poll(() => redis.exists(lockOf(couponId)), { timeout: 5000 }).toBe(0);
};
const taken: Told = { code: 4409, reason: 'DESK_TAKEN' };

describe('a seat', () => {
  it('is one session’s over all instances: of 200 who come at once one is seated, the others are told DESK_TAKEN', async () => {
    const couponId = await createCoupon(one.url);
    const users = Array.from({ length: 200 }, (_, at) => `user-${at}`);
    const tokens = await Promise.all(users.map((user) => tokenFor(user, { role: 'admin' })));
    const visitors = tokens.map((token, at) =>
      knock((at % 2 === 0 ? one : other).url, `?couponId=${couponId}&role=editor`, { token }),
    );
    const told = await Promise.all(visitors.map((visitor) => visitor.told));
    const winners = told.flatMap((each, at) => (each.seated ? [{ ...each.seated, user: users[at] }] : []));
    expect(winners).toEqual([expect.objectContaining({ type: 'seated', couponId, role: 'editor' })]);
    expect(told.filter((each) => !each.seated)).toEqual(Array.from({ length: 199 }, () => taken));
    const [winner] = winners;
    const editor = { userId: winner!.user, sessionId: winner!.sessionId };
    for (const app of [one, other]) {
      expect((await deskAt(app, couponId)).json).toEqual({ couponId, editor, reviewer: null });
    }
  });

  it('of the editor and that of the reviewer are two, and every coupon has its own', async () => {
    const [couponId, another] = [await createCoupon(one.url), await createCoupon(one.url)];
    const editor = await seated(one.url, couponId, 'editor', 'ann');
    const reviewer = await seated(other.url, couponId, 'reviewer', 'ben');
    await seated(other.url, another, 'editor', 'ben');
    expect((await deskAt(other, couponId)).json).toEqual({
      couponId,
      editor: { userId: 'ann', sessionId: editor.sessionId },
      reviewer: { userId: 'ben', sessionId: reviewer.sessionId },
    });
  });

  it('is checked from anywhere by one GET: user, session and a secret, with a TTL', async () => {
    const couponId = await createCoupon(one.url);
    const { sessionId } = await seated(one.url, couponId, 'editor', 'auth0|ann:7');
    const value = await redis.get(lockOf(couponId));
    expect(value?.startsWith(`auth0|ann:7:${sessionId}:`)).toBe(true);
    expect(value?.split(':').at(-1)).toMatch(/^[0-9a-f]{32}$/);
    const ttlMs = await redis.pttl(lockOf(couponId));
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(10_000);
    const { json } = await deskAt(other, couponId);
    expect(json.editor).toEqual({ userId: 'auth0|ann:7', sessionId });
    expect(JSON.stringify(json)).not.toContain(value?.split(':').at(-1));
  });

  it('is free as soon as its socket closes, and until then nobody else’s, not even in a second session of its user', async () => {
    const couponId = await createCoupon(one.url);
    const { socket } = await seated(one.url, couponId, 'editor', 'ann');
    for (const app of [one, other]) expect(await (await sit(app.url, couponId, 'editor', 'ann')).told).toEqual(taken);
    socket.close();
    await untilFree(couponId);
    await seated(other.url, couponId, 'editor', 'ben');
  });

  it('is given back by its own token only', async () => {
    const couponId = await createCoupon(one.url);
    const { socket, closed } = await seated(one.url, couponId, 'editor');
    await redis.set(lockOf(couponId), 'eve:session:secret', 'PX', 60_000);
    socket.close();
    await closed;
    // When its count is down, the release is on its way; and the next seat is asked for on the same connection, after it.
    await expect
      .poll(async () => (await call(one.url, 'GET', '/metrics')).text)
      .toMatch(/desk_sessions\{role="editor"\} 0/);
    await seated(one.url, await createCoupon(one.url), 'editor');
    expect(await redis.get(lockOf(couponId))).toBe('eve:session:secret');
    expect((await deskAt(one, couponId)).json.editor).toEqual({ userId: 'eve', sessionId: 'session' });
    await redis.del(lockOf(couponId));
  });

  it('is counted, and shown among the locks of the lab', async () => {
    const couponId = await createCoupon(one.url);
    await seated(one.url, couponId, 'reviewer');
    expect((await call(one.url, 'GET', '/metrics')).text).toMatch(/^firstcome_desk_sessions\{role="reviewer"\} 1$/m);
    const { json } = await call(other.url, 'GET', '/v1/lab/locks', { token: admin });
    const seat = expect.objectContaining({ key: `desk:${couponId}:reviewer`, held: true, queued: 0, waitersHere: 0 });
    expect(json.items).toContainEqual(seat);
  });
});

describe('who comes to a desk', () => {
  it('shows a token in Authorization, or as the subprotocol after bearer, which alone is answered', async () => {
    const couponId = await createCoupon(one.url);
    const query = (role: string) => `?couponId=${couponId}&role=${role}`;
    const byHeader = knock(one.url, query('editor'), { token: admin });
    const byProtocol = knock(one.url, query('reviewer'), { protocols: ['bearer', admin] });
    expect((await byHeader.told).seated?.role).toBe('editor');
    expect((await byProtocol.told).seated?.role).toBe('reviewer');
    expect([byHeader.socket.protocol, byProtocol.socket.protocol]).toEqual(['', 'bearer']);
  });

  it('is 4401 without a token that is good, wherever else one may be', async () => {
    const couponId = await createCoupon(one.url);
    const query = `?couponId=${couponId}&role=editor`;
    const wrong = [
      knock(one.url, query),
      knock(one.url, `${query}&token=${admin}`),
      knock(one.url, `${query}&access_token=${admin}`),
      knock(one.url, query, { protocols: ['bearer'] }),
      knock(one.url, query, { protocols: [admin, 'bearer'] }),
      knock(one.url, query, { token: serviceToken }),
      knock(one.url, query, { headers: { authorization: `Basic ${admin}` }, protocols: ['bearer', admin] }),
      knock(one.url, query, { token: await tokenFor('ann', { role: 'admin', expiresInSeconds: -1 }) }),
      knock(one.url, query, { token: await tokenFor('ann', { role: 'admin', secret: 'x'.repeat(40) }) }),
      knock(one.url, query, { protocols: ['bearer', await tokenFor('ann', { role: 'admin', audience: 'elsewhere' })] }),
    ];
    const told = await Promise.all(wrong.map((visitor) => visitor.told));
    expect(told).toEqual(wrong.map(() => ({ code: 4401, reason: 'UNAUTHENTICATED' })));
    expect(await redis.exists(lockOf(couponId))).toBe(0);
  });

  it('is 4403 without the role of an administrator, or from a page of somewhere else', async () => {
    const couponId = await createCoupon(one.url);
    const query = `?couponId=${couponId}&role=editor`;
    const from = (origin: string) => knock(one.url, query, { token: admin, headers: { origin } }).told;
    const forbidden = { code: 4403, reason: 'FORBIDDEN' };
    expect(await knock(one.url, query, { token: await tokenFor('ann') }).told).toEqual(forbidden);
    expect(await from('https://evil.example')).toEqual(forbidden);
    expect(await from('null')).toEqual(forbidden);
    expect((await from('https://shop.example')).seated?.role).toBe('editor');
    everybodyLeaves();
    await untilFree(couponId);
    expect((await from(one.url)).seated?.role).toBe('editor');
  });

  it('is 4400 with a query that is none, and 4404 at the desk of no coupon', async () => {
    const couponId = await createCoupon(one.url);
    const queries = [
      '',
      '?role=editor',
      `?couponId=${couponId}`,
      `?couponId=${couponId}&role=cook`,
      '?couponId=abc&role=editor',
    ];
    for (const query of [...queries, `?couponId=${couponId}&role=editor&x=1`]) {
      const told = await knock(one.url, query, { token: admin }).told;
      expect([query, told]).toEqual([query, { code: 4400, reason: 'VALIDATION_FAILED' }]);
    }
    const absent = knock(one.url, '?couponId=999999999&role=editor', { token: admin });
    expect(await absent.told).toEqual({ code: 4404, reason: 'COUPON_NOT_FOUND' });
    expect((await deskAt(one, 999_999_999)).json.code).toBe('COUPON_NOT_FOUND');
  });

  it('is 4429 at an instance that has 1000 sockets, until one of them leaves', async () => {
    const rows = await database.query<{ id: string }>(
      `insert into coupons (name, discount_type, discount_value, total)
       select 'Ten off', 'FIXED', 10, 100 from generate_series(1, 501) returning id`,
    );
    const coupons = rows.map(({ id }) => Number(id));
    const visit = (id: number, role: string) => knock(one.url, `?couponId=${id}&role=${role}`, { token: admin });
    const visitors = coupons.slice(0, 500).flatMap((id) => [visit(id, 'editor'), visit(id, 'reviewer')]);
    const told = await Promise.all(visitors.map((visitor) => visitor.told));
    expect(told.filter((each) => !each.seated)).toEqual([]);
    const [last] = coupons.slice(-1);
    expect(await visit(last!, 'editor').told).toEqual({ code: 4429, reason: 'RATE_LIMITED' });
    visitors[0]!.socket.close();
    await untilFree(coupons[0]!);
    expect((await visit(last!, 'editor').told).seated?.role).toBe('editor');
  });

  it('stays no longer than the token is good', async () => {
    const couponId = await createCoupon(one.url);
    const token = await tokenFor('ann', { role: 'admin', expiresInSeconds: 2 });
    const { told, closed } = knock(one.url, `?couponId=${couponId}&role=editor`, { token });
    expect((await told).seated?.role).toBe('editor');
    expect(await closed).toEqual({ code: 4401, reason: 'UNAUTHENTICATED' });
    expect(await redis.exists(lockOf(couponId))).toBe(0);
  });

  it('has nothing to say: a message ends the session, and a long one is not even read', async () => {
    const couponId = await createCoupon(one.url);
    const talker = await seated(one.url, couponId, 'editor');
    talker.socket.send('{"type":"hello"}');
    expect(await talker.closed).toEqual({ code: 1008, reason: 'MESSAGE_UNEXPECTED' });
    await untilFree(couponId);
    const shouter = await seated(one.url, couponId, 'editor');
    shouter.socket.send('x'.repeat(2000));
    expect((await shouter.closed).code).toBe(1009);
    await untilFree(couponId);
  });
});

describe('a coupon whose editor’s seat is taken', () => {
  const told = async (app: RunningApp, method: string, path: string, user: string) => {
    const body = method === 'PATCH' ? { name: `by ${user}` } : undefined;
    const token = await tokenFor(user, { role: 'admin' });
    const { status, json } = await call(app.url, method, `/v1/admin/coupons/${path}`, { token, body });
    return [status, json.code ?? json.name, json.editor];
  };

  it('is changed, paused and resumed by its editor only, on every instance; by anybody once it is free', async () => {
    const couponId = await createCoupon(one.url, { name: 'Ten off' });
    const { socket } = await seated(one.url, couponId, 'editor', 'ann');
    await seated(one.url, couponId, 'reviewer', 'ben');
    const refused = [409, 'DESK_TAKEN', 'ann'];
    for (const app of [one, other]) {
      expect(await told(app, 'PATCH', `${couponId}`, 'ben')).toEqual(refused);
      expect(await told(app, 'POST', `${couponId}/pause`, 'ben')).toEqual(refused);
      expect(await told(app, 'POST', `${couponId}/resume`, 'ben')).toEqual(refused);
    }
    expect((await call(one.url, 'GET', `/v1/coupons/${couponId}`)).json).toMatchObject({
      name: 'Ten off',
      status: 'ISSUABLE',
    });
    for (const app of [one, other]) {
      expect(await told(app, 'PATCH', `${couponId}`, 'ann')).toEqual([200, 'by ann', undefined]);
      expect(await told(app, 'POST', `${couponId}/pause`, 'ann')).toEqual([200, 'by ann', undefined]);
      expect(await told(app, 'POST', `${couponId}/resume`, 'ann')).toEqual([200, 'by ann', undefined]);
    }
    socket.close();
    await untilFree(couponId);
    expect(await told(other, 'PATCH', `${couponId}`, 'ben')).toEqual([200, 'by ben', undefined]);
  });
});

describe('a request for a desk without a WebSocket', () => {
  it('is 426, and a handshake of another version too', async () => {
    const plain = await call(one.url, 'GET', '/v1/desk?couponId=1&role=editor');
    expect([plain.status, plain.json.code, plain.headers.upgrade]).toEqual([426, 'UPGRADE_REQUIRED', 'websocket']);
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '7' };
    const old = await call(one.url, 'GET', '/v1/desk', { headers });
    expect([old.status, old.json.code]).toEqual([426, 'UPGRADE_REQUIRED']);
  });

  it('anywhere else is the 404 of any request, and hangs nowhere', async () => {
    const socket = new WebSocket(`${one.url.replace('http', 'ws')}/v1/nowhere`);
    const status = await new Promise((resolve) =>
      socket.once('unexpected-response', (request, response) => {
        request.destroy();
        resolve(response.statusCode);
      }),
    );
    expect(status).toBe(404);
  });
});
