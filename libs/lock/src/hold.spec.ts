import { describe, expect, it } from 'vitest';
import { Hold, marginMs } from './hold.js';
import { targetOf } from './key.js';
import { ManualClock } from './testing/manual-clock.js';

describe('a hold', () => {
  function held(clock: ManualClock) {
    const options = { ttlMs: 1000, autoRenew: false, maxHoldMs: 60_000 };
    return new Hold(clock, targetOf('k'), 'token', options, 1, 1, clock.now(), () => undefined);
  }

  it('keeps the latest time that the store has confirmed, in whatever order the answers come', () => {
    const clock = new ManualClock();
    const hold = held(clock);
    const renewalSentAt = clock.now();
    clock.jump(10);
    hold.renewed(clock.now(), 5000);
    hold.renewed(renewalSentAt, 1000);
    expect(hold.remainingMs).toBeCloseTo(5000 - marginMs(5000));
    expect(hold.confirmedAt).toBe(clock.now());
  });

  it('believes in nothing that was not confirmed, and no longer than from when it was asked for', () => {
    const clock = new ManualClock();
    const hold = held(clock);
    const sentAt = clock.now();
    clock.jump(900);
    expect(hold.remainingMs).toBeCloseTo(100 - marginMs(1000));
    hold.renewed(sentAt + 100, 1000);
    expect(hold.remainingMs).toBeCloseTo(200 - marginMs(1000));
  });

  it('believes in less from before the store is asked to shorten it, and in no answer to what was asked earlier', () => {
    const clock = new ManualClock();
    const hold = held(clock);
    const { shortenings } = hold;
    hold.shorten(clock.now(), 300);
    hold.renewed(clock.now(), 5000, shortenings);
    expect(hold.remainingMs).toBeCloseTo(300 - marginMs(300));
    hold.renewed(clock.now(), 5000, hold.shortenings);
    expect(hold.remainingMs).toBeCloseTo(5000 - marginMs(5000));
  });

  it('that was shortened is handed to nobody, and where that is not certain no later answer prolongs it', () => {
    const clock = new ManualClock();
    const hold = held(clock);
    hold.shorten(clock.now(), 300);
    expect(hold.fencesLeft).toBe(0);
    const { shortenings } = hold;
    hold.neverProlong();
    hold.renewed(clock.now(), 5000, shortenings);
    expect(hold.remainingMs).toBeCloseTo(300 - marginMs(300));
    expect(hold.prolongable).toBe(false);
  });
});
