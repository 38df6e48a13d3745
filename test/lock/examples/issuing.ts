import type { Locks } from '@firstcome/lock';
import type { Desk } from './desk.js';

export class Issuing {
  constructor(
    private readonly locks: Locks,
    private readonly desk: Desk,
  ) {}

  /** One hold and one transaction for everybody who waits in this process; each gets an answer of their own. */
  issue(couponId: number, user: string): Promise<number> {
    return this.locks.batch(`coupon:issue:${couponId}`, user, (users: string[], lease) =>
      this.desk.issueAll(couponId, users, lease),
    );
  }
}
