import type { JoinAnswer, JoinRequest, WaitingLine } from '../store.js';
import type { Names } from './names.js';
import type { ScriptRun } from './port.js';
import { loadScript, type Script } from './script.js';

const joinScript = loadScript('queue-join');
const leaveScript = loadScript('queue-leave');

export interface LineSettings {
  processId: string;
  publish: string;
  claimMs: number;
  /** A waiter of the next lower priority goes first once it has waited this much longer. */
  ageingMs: number;
}

/** The waiting line in Redis: what strategy `queue` asks of a store. */
export class RedisLine implements WaitingLine {
  constructor(
    private readonly names: Names,
    private readonly settings: LineSettings,
    private readonly run: (script: Script, run: ScriptRun, late?: (reply: unknown) => void) => Promise<unknown>,
  ) {}

  async join({ key, token, ttlMs, priority, maxWaiters, onLateGrant }: JoinRequest): Promise<JoinAnswer> {
    const { processId, publish, claimMs, ageingMs } = this.settings;
    const args = [processId, token, ttlMs, priority, ageingMs, maxWaiters, publish, this.names.channel(key), claimMs];
    // Late, it may have entered the line as well as have been granted: both are looked into.
    const reply = await this.run(joinScript, { keys: this.#keys(key), args }, () => onLateGrant());
    const [outcome, first, second, third] = (reply as unknown[]).map(Number) as [number, number, number, number];
    if (outcome === 1) return { granted: true, fence: first };
    if (outcome === -1) return { granted: false, full: true, place: first, estimateMs: second };
    return { granted: false, remainingMs: first, place: second, entered: third === 1 };
  }

  async leave(key: string, token: string): Promise<void> {
    const { processId, publish, claimMs } = this.settings;
    await this.run(leaveScript, {
      keys: this.#keys(key),
      args: [processId, token, publish, this.names.channel(key), claimMs],
    });
  }

  #keys(key: string): string[] {
    return [this.names.lock(key), this.names.line(key), this.names.fence(key)];
  }
}
