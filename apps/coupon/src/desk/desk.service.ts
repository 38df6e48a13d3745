import { timing } from '@firstcome/http';
import { LockBackendError } from '@firstcome/lock';
import type { Lease } from '@firstcome/lock';
import { LockService } from '@firstcome/lock/nest';
import { Injectable } from '@nestjs/common';
import { couponErrors } from '../coupon.errors.js';
import { CouponRepository } from '../coupon.repository.js';
import type { DeskView } from './desk.view.js';
import { ownerOf, seatKey, sitterOf } from './seat.js';
import type { Seat, Sitter } from './seat.js';

/** How long a seat outlives its process: as long as a desk may be kept by nobody. */
export const SEAT_TTL_MS = 10_000;
const LONGEST_SESSION_MS = 24 * 60 * 60 * 1000;

/**
 * One editor and one reviewer per coupon, over all instances. A seat is a lease of the lock library, which renews those of a
 * process in one round trip and knows by its own clock when one is over. Its token says who has it: any instance can tell.
 */
@Injectable()
export class DeskService {
  constructor(
    private readonly locks: LockService,
    private readonly coupons: CouponRepository,
  ) {}

  /** One attempt: nobody lines up for a seat. */
  async take(seat: Seat, sitter: Sitter): Promise<Lease> {
    await this.refuseUnknown(seat.couponId);
    const options = { ttlMs: SEAT_TTL_MS, maxHoldMs: LONGEST_SESSION_MS, owner: ownerOf(sitter) };
    const lease = await this.locks.tryAcquire(seatKey(seat), options);
    if (!lease) throw couponErrors.DESK_TAKEN();
    return lease;
  }

  async seats(couponId: number): Promise<DeskView> {
    await this.refuseUnknown(couponId);
    const sitter = (role: Seat['role']) => this.sitterAt({ couponId, role });
    const [editor, reviewer] = await Promise.all([sitter('editor'), sitter('reviewer')]);
    return { couponId, editor, reviewer };
  }

  /**
   * Before a coupon is changed. Where nobody can know who sits there it is not, unless the caller says so: 503, by the lock's own
   * error. Somebody who sits down between this look and the change is not noticed: what two changes may not break is the table's to say.
   */
  async refuseOthersThanEditor(
    couponId: number,
    userId: string,
    { whereNobodyKnows = 'refuse' }: { whereNobodyKnows?: 'refuse' | 'admit' } = {},
  ): Promise<void> {
    const editor = await timing.measure('lock', () =>
      this.sitterAt({ couponId, role: 'editor' }).catch((error: unknown) => {
        if (whereNobodyKnows === 'admit' && error instanceof LockBackendError) return null;
        throw error;
      }),
    );
    if (editor && editor.userId !== userId) throw couponErrors.DESK_TAKEN({ extra: { editor: editor.userId } });
  }

  private async sitterAt(seat: Seat): Promise<Sitter | null> {
    const { token } = await this.locks.inspect(seatKey(seat));
    return token === undefined ? null : sitterOf(token);
  }

  private async refuseUnknown(couponId: number): Promise<void> {
    if (!(await this.coupons.find(couponId))) throw couponErrors.COUPON_NOT_FOUND();
  }
}
