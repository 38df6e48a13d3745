// One instance of the built coupon app, as `npm start` runs it, with two contenders more and a book of who came when.
// They are put in here and not in the app, so that no configuration of the app can reach them.
import 'reflect-metadata';
import { randomUUID } from 'node:crypto';

const built = (file) => import(new URL(`../../dist/${file}`, import.meta.url).href);
const { createCouponApp } = await built('apps/coupon/src/app.module.js');
const { loadConfig } = await built('apps/coupon/src/config.js');
const { Strategies } = await built('apps/coupon/src/issuance/strategies.js');
const { CriticalSection } = await built('apps/coupon/src/issuance/critical-section.js');
const { created } = await built('apps/coupon/src/issuance/refusal.js');
const { lockKey } = await built('apps/coupon/src/issuance/under-lock.js');
const { LockService } = await built('libs/lock/src/nest/index.js');
const { runHttpApp } = await built('libs/http/src/index.js');

const config = loadConfig();
const app = await createCouponApp(config);
const [strategies, locks, section] = [Strategies, LockService, CriticalSection].map((each) => app.get(each));

// The same route with its token, its checks and its answer: what is left when the issue costs nothing.
let serial = 0;
strategies.byName.set('empty', {
  issue: async ({ couponId, userId }) => {
    serial += 1;
    const row = { id: randomUUID(), couponId, userId, serial, status: 'ISSUED', issuedAt: new Date(), expiresAt: null };
    return created(row);
  },
});

// The pub/sub lock of the textbook: every request waits by itself, and every release wakes them all.
strategies.byName.set('textbook', {
  issue: (grab) =>
    locks.withLock(
      lockKey(grab.couponId),
      async (lease) => {
        const answer = await section.issue(grab, { strategy: 'textbook', lease });
        lease.settled();
        return answer;
      },
      { strategy: 'pubsub', localLine: false },
    ),
});

// By the machine's monotonic clock, so that the books of two instances can be put together.
let arrivals = [];
app.getHttpServer().prependListener('request', ({ method, headers }) => {
  if (method === 'POST') arrivals.push([headers.authorization, process.hrtime.bigint()]);
});
const subjectOf = (bearer) => JSON.parse(Buffer.from(bearer.split('.')[1], 'base64url').toString()).sub;

process.on('message', () => {
  process.send({
    arrivals: arrivals.map(([bearer, at]) => [subjectOf(bearer), Number(at) / 1e6]),
    cpu: process.cpuUsage(),
  });
  arrivals = [];
});
await runHttpApp(app, config);
process.send({ url: await app.getUrl() });
