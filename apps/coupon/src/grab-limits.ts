import { httpErrors } from '@firstcome/http';
import { RateLimiter } from '@firstcome/redis';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from './config.js';
import type { Config } from './config.js';

/** How often one user, one address, and everybody together on one coupon may try, per minute and over all instances. */
@Injectable()
export class GrabLimits {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly limiter: RateLimiter,
  ) {}

  async check(couponId: number, userId: string, address: string): Promise<void> {
    const { user, address: perAddress, coupon } = this.config.rateLimits;
    // The narrowest first: who is refused as a user takes nothing from those behind the same address.
    await this.take(`grab:user:${userId}`, user);
    await this.take(`grab:address:${address}`, perAddress);
    await this.take(`grab:coupon:${couponId}`, coupon);
  }

  private async take(subject: string, perMinute: number): Promise<void> {
    const { allowed, retryAfterMs } = await this.limiter.take(subject, perMinute);
    if (!allowed) throw httpErrors.RATE_LIMITED({ retryAfterMs });
  }
}
