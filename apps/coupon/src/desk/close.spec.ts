import { httpErrors } from '@firstcome/http';
import { LockAbortedError, LockBackendError, LockLostError } from '@firstcome/lock';
import { describe, expect, it } from 'vitest';
import { couponErrors } from '../coupon.errors.js';
import { closeOf } from './close.js';

describe('a socket is closed', () => {
  it.each([
    [httpErrors.UNAUTHENTICATED(), 4401, 'UNAUTHENTICATED'],
    [httpErrors.FORBIDDEN(), 4403, 'FORBIDDEN'],
    [httpErrors.VALIDATION_FAILED(), 4400, 'VALIDATION_FAILED'],
    [couponErrors.COUPON_NOT_FOUND(), 4404, 'COUPON_NOT_FOUND'],
    [couponErrors.DESK_TAKEN(), 4409, 'DESK_TAKEN'],
    [httpErrors.RATE_LIMITED(), 4429, 'RATE_LIMITED'],
  ])('with 4000 + the status of its refusal (%s)', (error, code, reason) => {
    expect(closeOf(error)).toEqual({ code, reason });
  });

  it('with 1013 when it may come again, and with 1001 when this instance goes', () => {
    const about = { key: 'desk:1:editor' };
    expect(closeOf(new LockBackendError('away', about))).toEqual({ code: 1013, reason: 'LOCK_BACKEND_UNAVAILABLE' });
    expect(closeOf(new LockLostError('its time ran out', about))).toEqual({ code: 1013, reason: 'LOCK_LOST' });
    for (const error of [httpErrors.SHUTTING_DOWN(), new LockAbortedError('closing', about)]) {
      expect(closeOf(error)).toEqual({ code: 1001, reason: 'SHUTTING_DOWN' });
    }
  });

  it('with 1011 where the mistake is ours, and is told nothing of it', () => {
    for (const error of [new TypeError('a secret'), undefined, httpErrors.INTERNAL_ERROR()]) {
      expect(closeOf(error)).toEqual({ code: 1011, reason: 'INTERNAL_ERROR' });
    }
  });
});
