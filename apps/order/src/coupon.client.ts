import { ProblemError } from '@firstcome/http';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import { optionErrors } from './option.errors.js';
import { orderErrors } from './order.errors.js';

const deadlineMs = 2000;
const { COUPON_NOT_USABLE, MIN_ORDER_NOT_MET, UPSTREAM_UNAVAILABLE } = orderErrors;

// An absent coupon, somebody else's, a used and an expired one are one refusal: a user learns nothing of other users.
const refusals = new Map([
  ['USER_COUPON_NOT_FOUND', () => COUPON_NOT_USABLE()],
  ['COUPON_NOT_USABLE', () => COUPON_NOT_USABLE()],
  ['MIN_ORDER_NOT_MET', () => MIN_ORDER_NOT_MET()],
  [
    'CONCURRENT_UPDATE',
    () => optionErrors.CONCURRENT_UPDATE({ detail: 'This coupon is wanted twice at this moment. Repeat the request.' }),
  ],
]);

/** A "no" that stays one, whoever asks again. */
export function isRefusal(error: unknown): error is ProblemError {
  return error instanceof ProblemError && !error.problem.retryable;
}

interface Reply {
  status: number;
  body: { code?: string; discount?: unknown };
}

interface CouponOrder {
  orderId: string;
  userId: string;
  subtotal: number;
}

/** The coupon service, which answers each of these the same however often it is asked for one order. */
@Injectable()
export class CouponClient {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** The points off this order. Throws the refusal, or UPSTREAM_UNAVAILABLE: then it may have been reserved. */
  async reserve(id: string, order: CouponOrder): Promise<number> {
    return discountOf(await this.use(id, 'reserve', order), order);
  }

  async confirm(id: string, orderId: string): Promise<void> {
    await this.use(id, 'confirm', { orderId });
  }

  async release(id: string, orderId: string): Promise<void> {
    await this.use(id, 'release', { orderId });
  }

  /** The first phase: reserve, and with `pay` confirm, done and not yet committed. Answers like reserve(). */
  async prepare(gid: string, order: CouponOrder & { userCouponId: string; pay: boolean }): Promise<number> {
    return discountOf(await this.post(`transactions/${gid}/prepare`, order), order);
  }

  /** The second phase. */
  async commit(gid: string): Promise<void> {
    await this.post(`transactions/${gid}/commit`, {});
  }

  async rollback(gid: string): Promise<void> {
    await this.post(`transactions/${gid}/rollback`, {});
  }

  private use(id: string, step: 'reserve' | 'confirm' | 'release', body: object): Promise<Reply> {
    return this.post(`user-coupons/${id}/${step}`, body);
  }

  private async post(path: string, body: object): Promise<Reply> {
    const reply = await this.send(`/internal/v1/${path}`, body).catch((cause: unknown) => {
      throw UPSTREAM_UNAVAILABLE({ cause });
    });
    if (reply.status === 200) return reply;
    const refusal = refusals.get(reply.body.code ?? '');
    throw (
      refusal?.() ??
      UPSTREAM_UNAVAILABLE({ cause: new Error(`The coupon service answered ${reply.status} ${reply.body.code ?? ''}`) })
    );
  }

  private async send(path: string, body: object): Promise<Reply> {
    const { url, serviceToken } = this.config.coupon;
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${serviceToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(deadlineMs),
    });
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  }
}

function discountOf({ body: { discount } }: Reply, { subtotal }: CouponOrder): number {
  if (!Number.isSafeInteger(discount) || (discount as number) < 0 || (discount as number) > subtotal)
    throw UPSTREAM_UNAVAILABLE({
      cause: new Error(`The coupon service answered with the discount ${String(discount)}`),
    });
  return discount as number;
}
