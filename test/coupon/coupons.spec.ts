import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCoupon } from '../support/apps.js';
import type { RunningApp } from '../support/apps.js';
import { call } from '../support/client.js';
import { createCoupon, grab } from '../support/coupons.js';
import { createTestDatabase } from '../support/database.js';
import type { TestDatabase } from '../support/database.js';
import { tokenFor } from '../support/tokens.js';

let database: TestDatabase;
let coupon: RunningApp;
let other: RunningApp;
let admin: string;

beforeAll(async () => {
  database = await createTestDatabase();
  coupon = await startCoupon({ COUPON_DATABASE_URL: database.url });
  other = await startCoupon({ COUPON_DATABASE_URL: database.url });
  admin = await tokenFor('admin', { role: 'admin' });
});
afterAll(async () => {
  await coupon?.close();
  await other?.close();
  await database?.drop();
});

const create = (body: object) => call(coupon.url, 'POST', '/v1/admin/coupons', { token: admin, body });
const minimal = { name: 'Ten off', discount: { type: 'FIXED', value: 10 }, total: 3 };

describe('POST /v1/admin/coupons', () => {
  it('answers the object that GET shows on any instance', async () => {
    const body = {
      name: 'Spring ✿',
      discount: { type: 'PERCENT', value: 15, maxDiscount: 500 },
      minOrder: 1000,
      total: 3,
      perUserLimit: 2,
      startsAt: '2020-01-01T00:00:00Z',
      endsAt: '2999-12-31T23:59:59.999Z',
      validDays: 30,
    };
    const created = await create(body);
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      id: expect.any(Number) as number,
      name: 'Spring ✿',
      discount: { type: 'PERCENT', value: 15, maxDiscount: 500 },
      minOrder: 1000,
      total: 3,
      issued: 0,
      remaining: 3,
      perUserLimit: 2,
      startsAt: '2020-01-01T00:00:00.000Z',
      endsAt: '2999-12-31T23:59:59.999Z',
      status: 'ISSUABLE',
    });
    const found = await call(other.url, 'GET', `/v1/coupons/${created.json.id}`);
    expect([found.status, found.text]).toEqual([200, created.text]);
  });

  it('fills in what may be left out', async () => {
    const { json } = await create(minimal);
    expect(json).toMatchObject({
      discount: minimal.discount,
      minOrder: 0,
      perUserLimit: 1,
      startsAt: null,
      endsAt: null,
    });
  });

  it.each([
    ['a percentage above 100', { discount: { type: 'PERCENT', value: 101 } }, '/discount/value'],
    ['an end before the start', { startsAt: '2030-01-01T00:00:00Z', endsAt: '2030-01-01T00:00:00Z' }, '/endsAt'],
  ])('refuses %s with 422', async (_, part, pointer) => {
    const { status, json } = await create({ ...minimal, ...part });
    expect([status, json.code, json.errors[0].pointer]).toEqual([422, 'COUPON_RULES_INVALID', pointer]);
  });
});

describe('GET /v1/coupons', () => {
  it('lists with status=issuable those that can be had now, page by page, newest first', async () => {
    const wanted: number[] = [];
    for (let index = 0; index < 5; index++) wanted.unshift(await createCoupon(coupon.url));
    const soldOut = await createCoupon(coupon.url, { total: 1 });
    await grab(coupon.url, soldOut, 'ann');
    await createCoupon(coupon.url, { startsAt: '2999-01-01T00:00:00Z' });

    const seen: number[] = [];
    let cursor = '';
    for (let pages = 0; pages < 3; pages++) {
      const { status, json } = await call(other.url, 'GET', `/v1/coupons?status=issuable&limit=2${cursor}`);
      expect(status).toBe(200);
      seen.push(...(json.items as { id: number }[]).map(({ id }) => id));
      cursor = `&cursor=${json.nextCursor}`;
    }
    expect(seen.slice(0, 5)).toEqual(wanted);
  });

  it('ends with nextCursor null', async () => {
    const { json } = await call(coupon.url, 'GET', '/v1/coupons?limit=100');
    expect(json.nextCursor).toBeNull();
    expect(new Set((json.items as { status: string }[]).map(({ status }) => status))).toEqual(
      new Set(['ISSUABLE', 'SOLD_OUT', 'NOT_STARTED']),
    );
  });

  it('answers 404 for a coupon that is not there', async () => {
    const { status, json } = await call(coupon.url, 'GET', '/v1/coupons/2147483648');
    expect([status, json.code, json.retryable]).toEqual([404, 'COUPON_NOT_FOUND', false]);
  });
});

describe('POST /v1/coupons/{id}/issues', () => {
  it('issues with an empty body or {}, serials in the order of issue', async () => {
    const couponId = await createCoupon(coupon.url, { validDays: 2 });
    const first = await grab(coupon.url, couponId, 'ann');
    const second = await grab(other.url, couponId, 'ben', { body: {} });
    expect(first.status).toBe(201);
    expect(first.json).toEqual({
      userCouponId: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ) as string,
      couponId,
      userId: 'ann',
      serial: 1,
      status: 'ISSUED',
      issuedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      expiresAt: expect.any(String) as string,
    });
    const { issuedAt, expiresAt } = first.json as { issuedAt: string; expiresAt: string };
    expect(Date.parse(expiresAt) - Date.parse(issuedAt)).toBe(2 * 86_400_000);
    expect(second.json).toMatchObject({ userId: 'ben', serial: 2 });
    const { json } = await call(other.url, 'GET', `/v1/coupons/${couponId}`);
    expect(json).toMatchObject({ issued: 2, remaining: 98 });
  });

  it('gives a coupon without validDays no end', async () => {
    const { json } = await grab(coupon.url, await createCoupon(coupon.url), 'ann');
    expect(json.expiresAt).toBeNull();
  });

  it('reports what the request spent on the lock, under it, and in the database', async () => {
    const { headers } = await grab(coupon.url, await createCoupon(coupon.url), 'ann');
    expect(headers['server-timing']).toMatch(/^lock;dur=[\d.]+, hold;dur=[\d.]+, db;dur=(?!0\.0)[\d.]+$/);
  });

  it('refuses in the order of the contract: each reason hides those behind it', async () => {
    const couponId = await createCoupon(coupon.url, { total: 1, startsAt: '2999-01-01T00:00:00Z' });
    const change = (text: string) => database.query(`update coupons set ${text} where id = ${couponId}`);
    const refusal = async (user: string) => {
      const { status, json } = await grab(coupon.url, couponId, user);
      return [status, json.code, json.retryable];
    };
    // Everything is wrong at once for ann; one reason after the other is taken away.
    await change(`starts_at = null`);
    const { json: issued } = await grab(coupon.url, couponId, 'ann');
    await change(`starts_at = now() + interval '1 day', ends_at = now() + interval '2 days', paused = true`);
    expect(await refusal('ann')).toEqual([409, 'COUPON_NOT_STARTED', false]);
    await change(`starts_at = now() - interval '2 days', ends_at = now() - interval '1 day'`);
    expect(await refusal('ann')).toEqual([409, 'COUPON_ENDED', false]);
    await change(`ends_at = null`);
    expect(await refusal('ann')).toEqual([409, 'COUPON_PAUSED', false]);
    await change(`paused = false`);
    expect(await refusal('ann')).toEqual([409, 'COUPON_ALREADY_ISSUED', false]);
    expect((await grab(coupon.url, couponId, 'ann')).json.userCouponId).toBe(issued.userCouponId);
    expect(await refusal('ben')).toEqual([409, 'COUPON_SOLD_OUT', false]);
    expect((await grab(coupon.url, 999_999_999, 'ann')).json.code).toBe('COUPON_NOT_FOUND');
  });

  it('leaves no gap where a statement failed: the next serial is the next number', async () => {
    const couponId = await createCoupon(coupon.url);
    await grab(coupon.url, couponId, 'ann');
    await Promise.all(Array.from({ length: 10 }, () => grab(coupon.url, couponId, 'ann')));
    expect((await grab(coupon.url, couponId, 'ben')).json.serial).toBe(2);
  });
});

describe('GET /v1/me/coupons', () => {
  it('pages through my coupons only, newest first', async () => {
    const mine: string[] = [];
    for (let index = 0; index < 5; index++) {
      const { json } = await grab(coupon.url, await createCoupon(coupon.url), 'pager');
      mine.unshift(json.userCouponId as string);
    }
    const token = await tokenFor('pager');
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { status, json } = await call(other.url, 'GET', `/v1/me/coupons?limit=2${cursor}`, { token });
      expect(status).toBe(200);
      seen.push(...(json.items as { userCouponId: string }[]).map(({ userCouponId }) => userCouponId));
      cursor = json.nextCursor === null ? null : `&cursor=${json.nextCursor}`;
    }
    expect(seen).toEqual(mine);
    expect((await call(other.url, 'GET', '/v1/me/coupons', { token: await tokenFor('nobody') })).json).toEqual({
      items: [],
      nextCursor: null,
    });
  });

  it('filters by status, and shows a coupon past its day as EXPIRED', async () => {
    const { json } = await grab(coupon.url, await createCoupon(coupon.url, { validDays: 1 }), 'late');
    const token = await tokenFor('late');
    const ids = async (status: string) => {
      const page = await call(coupon.url, 'GET', `/v1/me/coupons?status=${status}`, { token });
      return (page.json.items as { userCouponId: string }[]).map(({ userCouponId }) => userCouponId);
    };
    expect([await ids('ISSUED'), await ids('EXPIRED')]).toEqual([[json.userCouponId], []]);
    await database.query(
      `update user_coupons set issued_at = now() - interval '2 days', expires_at = now() - interval '1 day' where id = $1`,
      [json.userCouponId],
    );
    expect([await ids('ISSUED'), await ids('EXPIRED')]).toEqual([[], [json.userCouponId]]);
  });
});
