import { Redis } from 'ioredis';
import { createLocks, redisStore } from '@firstcome/lock';

const redis = new Redis(process.argv[2] ?? 'redis://127.0.0.1:6379');
const locks = createLocks({ store: redisStore(redis) });
await locks.withLock('coupon:issue:42', async (lease) => {
  console.log(`mine, under fence ${lease.fence}, for ${Math.round(lease.remainingMs)} ms and renewed`);
});
await locks.close();
redis.disconnect();
