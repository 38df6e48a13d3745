import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DatabaseUnavailableError } from './errors.js';
import { Turnstile } from './turnstile.js';

const limits = { stallMs: 900, waitMs: 5000 };
const outcomeOf = (entered: Promise<void>) =>
  entered.then(
    () => 'in',
    (error: unknown) => (error instanceof DatabaseUnavailableError ? 'refused' : error),
  );

describe('the turnstile', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('lets as many in at once as there are places, and the rest in the order they came', async () => {
    const turnstile = new Turnstile(2, limits);
    const order: number[] = [];
    const all = [0, 1, 2, 3, 4].map((number) => turnstile.enter().then(() => order.push(number)));
    await Promise.all(all.slice(0, 2));
    expect([order, turnstile.waiting]).toEqual([[0, 1], 3]);
    for (const left of [2, 1, 0]) {
      turnstile.leave();
      expect(turnstile.waiting).toBe(left);
    }
    await Promise.all(all);
    expect(order).toEqual([0, 1, 2, 3, 4]);
  });

  it('refuses who waits while nobody gets through, within a second', async () => {
    const turnstile = new Turnstile(1, limits);
    await turnstile.enter();
    const waiting = outcomeOf(turnstile.enter());
    vi.advanceTimersByTime(850);
    expect(turnstile.waiting).toBe(1);
    vi.advanceTimersByTime(100);
    expect(await waiting).toBe('refused');
  });

  it('lets wait in a queue that moves, up to its limit', async () => {
    const turnstile = new Turnstile(1, limits);
    await turnstile.enter();
    const waiting = Array.from({ length: 12 }, () => outcomeOf(turnstile.enter()));
    for (let moves = 0; moves < 9; moves += 1) {
      vi.advanceTimersByTime(500);
      turnstile.leave();
    }
    vi.advanceTimersByTime(600);
    expect(await Promise.all(waiting)).toEqual([...Array<string>(9).fill('in'), ...Array<string>(3).fill('refused')]);
  });

  it('refuses all who wait when the server is away, and works again after', async () => {
    const turnstile = new Turnstile(1, limits);
    await turnstile.enter();
    const waiting = [outcomeOf(turnstile.enter()), outcomeOf(turnstile.enter())];
    turnstile.refuseAll(new Error('away'));
    expect(await Promise.all(waiting)).toEqual(['refused', 'refused']);
    turnstile.leave();
    expect(await outcomeOf(turnstile.enter())).toBe('in');
    expect(vi.getTimerCount()).toBe(0);
  });
});
