import { Redis } from 'ioredis';

/**
 * The thing that the lock protects: a counter that everybody reads, adds to and writes back, on a server of its own that no
 * spec harms. It claims the fence with the read: a fence looked at only by the write would come too late.
 */
const readScript = `
local guard = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if ARGV[1] ~= '' then
  if tonumber(ARGV[1]) < guard then return { 0, guard } end
  redis.call('HSET', KEYS[1], 'fence', ARGV[1])
end
return { 1, tonumber(redis.call('HGET', KEYS[1], 'value') or '0') }`;

const writeScript = `
local guard = tonumber(redis.call('HGET', KEYS[1], 'fence') or '0')
if ARGV[1] ~= '' and tonumber(ARGV[1]) < guard then return { 0, guard } end
redis.call('HSET', KEYS[1], 'value', ARGV[2])
redis.call('HINCRBY', KEYS[1], 'writes', 1)
return { 1, tonumber(ARGV[2]) }`;

export interface LedgerAnswer {
  accepted: boolean;
  /** The counter; refused: the fence that the guard has seen. */
  value: number;
}

export class Ledger {
  readonly #redis: Redis;

  constructor(port: number) {
    this.#redis = new Redis(port, { maxRetriesPerRequest: null });
  }

  /** Without a fence nothing is guarded: the negative control. */
  async read(key: string, fence?: number): Promise<LedgerAnswer> {
    return answered(await this.#redis.eval(readScript, 1, key, fence ?? ''));
  }

  async write(key: string, value: number, fence?: number): Promise<LedgerAnswer> {
    return answered(await this.#redis.eval(writeScript, 1, key, fence ?? '', value));
  }

  /** lost: writes that were accepted and are not in the counter. */
  async audit(key: string): Promise<{ value: number; writes: number; lost: number }> {
    const [value, writes] = (await this.#redis.hmget(key, 'value', 'writes')).map(Number) as [number, number];
    return { value, writes, lost: writes - value };
  }

  close(): void {
    this.#redis.disconnect();
  }
}

function answered(reply: unknown): LedgerAnswer {
  const [accepted, value] = (reply as unknown[]).map(Number) as [number, number];
  return { accepted: accepted === 1, value };
}
