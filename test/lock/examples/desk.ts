import type { Lease } from '@firstcome/lock';

/** Whatever the application does under the lock; the tests give it a duration. */
export abstract class Desk {
  abstract placeOrder(user: string, product: string, lease: Lease): Promise<string>;
  abstract writeReport(): Promise<void>;
  abstract issueAll(couponId: number, users: string[], lease: Lease): Promise<number[]>;
}
