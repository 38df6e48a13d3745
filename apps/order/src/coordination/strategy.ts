import type { Answer, IdempotentRequest, ProblemError } from '@firstcome/http';
import type { Transaction, TransactionOptions } from '@firstcome/postgres';

/** What a user wants a coupon for. */
export interface CouponWish {
  userCouponId: string;
  userId: string;
  subtotal: number;
  /** The order is to be paid at once. */
  pay: boolean;
  request: IdempotentRequest;
}

/** What the coupon service said before the order's own transaction begins. */
export interface CouponHold {
  orderId: string;
  userCouponId: string;
  subtotal: number;
  discount: number;
  /** Its key is in progress with it, and the recovery knows of it. False for what was refused before anything began. */
  begun: boolean;
  /** The decision that pays the order also uses the coupon: nobody has to be asked for that afterwards. */
  used?: boolean;
  /** Final: decided, and stored under the request's key, in the order's transaction. */
  refusal?: ProblemError;
}

/** How the order's own transaction is run to its end. */
export type Transact = (
  work: (tx: Transaction) => Promise<Answer>,
  options: TransactionOptions<Answer>,
) => Promise<Answer>;

/** The order's turn, and in it the order's own transaction; BEGIN to COMMIT unless it is told otherwise. */
export type Decide = (hold: CouponHold, transact?: Transact) => Promise<Answer>;

/**
 * One way of bringing the order database and the coupon database to the same end.
 * - `place` asks the coupon service first, before a turn is taken or a connection used, then has the order decided, and sees
 *   to it that the coupon follows. It throws only what is worth repeating: a refusal is part of the answer.
 * - Before it asks, there is a row by which the recovery knows what was begun (CouponUseService), so that a process may die
 *   anywhere in it. The row says which way it was: instances of both ways may run side by side.
 */
export interface Coordination {
  readonly name: CoordinationName;
  place(wish: CouponWish, decide: Decide): Promise<Answer>;
}

/** The default first. */
export const coordinationNames = ['saga', '2pc'] as const;
export type CoordinationName = (typeof coordinationNames)[number];

/** The one of the configuration. */
export const COORDINATION = Symbol('coordination');

/** Whether it was this very request that made an order. */
export const isPlaced = ({ status, replayed }: Answer): boolean => status === 201 && !replayed;
