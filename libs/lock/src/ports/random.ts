import { randomFillSync } from 'node:crypto';

/** All the randomness the library knows: a seed behind it makes a run repeatable. */
export interface Random {
  /** Uniform in [0, 1): jitter. */
  next(): number;
  /** 128 random bits as 32 hex digits: one acquisition's secret. */
  token(): string;
}

// One system call per 256 tokens: a token per request is on the hot path.
const pool = Buffer.alloc(4096);
let used = pool.length;

function take(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}

export const systemRandom: Random = {
  next: () => take(4).readUInt32LE() / 2 ** 32,
  token: () => take(16).toString('hex'),
};
