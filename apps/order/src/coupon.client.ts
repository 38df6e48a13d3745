import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import { orderErrors } from './order.errors.js';

const deadlineMs = 2000;
const { COUPON_NOT_USABLE, MIN_ORDER_NOT_MET, UPSTREAM_UNAVAILABLE } = orderErrors;

// An absent coupon, somebody else's, a used and an expired one are one refusal: a user learns nothing of other users.
const refusals = new Map([
  ['USER_COUPON_NOT_FOUND', COUPON_NOT_USABLE],
  ['COUPON_NOT_USABLE', COUPON_NOT_USABLE],
  ['MIN_ORDER_NOT_MET', MIN_ORDER_NOT_MET],
]);

interface Reply {
  status: number;
  body: { code?: string; discount?: unknown };
}

/** The coupon service, which answers each of these the same however often it is asked for one order. */
@Injectable()
export class CouponClient {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  /** The points off this order. Throws the refusal, or UPSTREAM_UNAVAILABLE: then it may have been reserved. */
  async reserve(id: string, order: { orderId: string; userId: string; subtotal: number }): Promise<number> {
    const { body } = await this.post(id, 'reserve', order);
    const { discount } = body;
    if (!Number.isSafeInteger(discount) || (discount as number) < 0 || (discount as number) > order.subtotal)
      throw UPSTREAM_UNAVAILABLE({
        cause: new Error(`The coupon service answered with the discount ${String(discount)}`),
      });
    return discount as number;
  }

  async confirm(id: string, orderId: string): Promise<void> {
    await this.post(id, 'confirm', { orderId });
  }

  async release(id: string, orderId: string): Promise<void> {
    await this.post(id, 'release', { orderId });
  }

  private async post(id: string, step: string, order: object): Promise<Reply> {
    const reply = await this.send(`/internal/v1/user-coupons/${id}/${step}`, order).catch((cause: unknown) => {
      throw UPSTREAM_UNAVAILABLE({ cause });
    });
    if (reply.status === 200) return reply;
    const refusal = refusals.get(reply.body.code ?? '');
    throw (
      refusal?.() ??
      UPSTREAM_UNAVAILABLE({ cause: new Error(`The coupon service answered ${reply.status} ${reply.body.code ?? ''}`) })
    );
  }

  private async send(path: string, order: object): Promise<Reply> {
    const { url, serviceToken } = this.config.coupon;
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { authorization: `Bearer ${serviceToken}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
      redirect: 'error',
      signal: AbortSignal.timeout(deadlineMs),
    });
    return { status: response.status, body: (await response.json()) as Reply['body'] };
  }
}
