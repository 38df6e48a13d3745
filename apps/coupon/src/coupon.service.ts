import { decodeCursor, idempotency, page } from '@firstcome/http';
import type { Answer, IdempotentRequest, User } from '@firstcome/http';
import { Database, isCheckViolation } from '@firstcome/postgres';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import type { ChangeCouponDto, CouponListQuery, CreateCouponDto, MyCouponsQuery } from './coupon.dto.js';
import { couponErrors } from './coupon.errors.js';
import { DeskService } from './desk/desk.service.js';
import { GrabLimits } from './grab-limits.js';
import { CouponRepository } from './coupon.repository.js';
import type { CouponRow, UserCouponRow } from './coupon.rows.js';
import type { CouponPage, CouponView, UserCouponPage, UserCouponView } from './coupon.view.js';
import { Strategies } from './issuance/strategies.js';
import { IssueTicketService } from './issue-ticket.service.js';

@Injectable()
export class CouponService {
  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly database: Database,
    private readonly coupons: CouponRepository,
    private readonly limits: GrabLimits,
    private readonly strategies: Strategies,
    private readonly desk: DeskService,
    private readonly tickets: IssueTicketService,
  ) {}

  /** The grab. A repeated request gets its stored answer before anything can refuse or delay it. */
  async issue(
    couponId: number,
    userId: string,
    address: string,
    request: IdempotentRequest,
    strategy?: string,
  ): Promise<Answer> {
    const deadline = performance.now() + this.config.lock.waitMs;
    const chosen = this.strategies.choose(strategy);
    const replayed = await idempotency.replay(this.database, request);
    if (replayed) return replayed;
    await this.limits.check(couponId, userId, address);
    const grab = { couponId, userId, request, deadline };
    return this.tickets.nowOrLater(grab, strategy, () => chosen.issue(grab));
  }

  async create(coupon: CreateCouponDto): Promise<CouponView> {
    refuseMeaningless(coupon);
    return couponView(await this.coupons.create(coupon));
  }

  /** By whoever has the editor’s seat, or by anybody while it is free. */
  async change(id: number, change: ChangeCouponDto, by: User): Promise<CouponView> {
    await this.desk.refuseOthersThanEditor(id, by.id);
    try {
      return known(await this.coupons.change(id, change));
    } catch (error) {
      if (isCheckViolation(error, 'coupons_never_oversold')) throw couponErrors.COUPON_TOTAL_BELOW_ISSUED();
      if (isCheckViolation(error, 'coupons_window')) {
        const message = 'endsAt must be after startsAt';
        throw couponErrors.COUPON_RULES_INVALID({ errors: [{ pointer: '/endsAt', code: 'window', message }] });
      }
      throw error;
    }
  }

  /** To what it already is: the same answer. */
  async setPaused(id: number, paused: boolean, by: User): Promise<CouponView> {
    // A sale must be possible to stop whatever is down: only what goes on again waits until the desk can be asked.
    await this.desk.refuseOthersThanEditor(id, by.id, { whereNobodyKnows: paused ? 'admit' : 'refuse' });
    return known(await this.coupons.setPaused(id, paused));
  }

  /** For good, and once: a repetition gets the same answer. The coupon's count stays, so nobody else gets the place. */
  async revoke(userCouponId: string): Promise<UserCouponView> {
    const revoked = await this.coupons.revoke(userCouponId);
    if (revoked) return userCouponView(revoked);
    const found = await this.coupons.findUserCoupon(userCouponId);
    if (!found) throw couponErrors.USER_COUPON_NOT_FOUND({ detail: 'There is no user coupon with this id.' });
    throw couponErrors.USER_COUPON_NOT_REVOCABLE();
  }

  async find(id: number): Promise<CouponView> {
    return known(await this.coupons.find(id));
  }

  async list({ limit, cursor, status }: CouponListQuery): Promise<CouponPage> {
    const [before] = cursor ? decodeCursor(cursor, ['int']) : [];
    const rows = await this.coupons.page(before, status && 'ISSUABLE', limit + 1);
    return page(rows, limit, couponView);
  }

  async listOfUser(userId: string, { limit, cursor, status }: MyCouponsQuery): Promise<UserCouponPage> {
    const [before] = cursor ? decodeCursor(cursor, ['uuid']) : [];
    const rows = await this.coupons.pageOfUser(userId, before, status, limit + 1);
    return page(rows, limit, userCouponView);
  }
}

function known(row: CouponRow | undefined): CouponView {
  if (!row) throw couponErrors.COUPON_NOT_FOUND();
  return couponView(row);
}

function refuseMeaningless({ discount, startsAt, endsAt }: CreateCouponDto): void {
  const errors = [];
  if (discount.type === 'PERCENT' && discount.value > 100) {
    errors.push({ pointer: '/discount/value', code: 'max', message: 'a PERCENT discount is 1 to 100' });
  }
  if (startsAt && endsAt && new Date(endsAt) <= new Date(startsAt)) {
    errors.push({ pointer: '/endsAt', code: 'window', message: 'endsAt must be after startsAt' });
  }
  if (errors.length > 0) throw couponErrors.COUPON_RULES_INVALID({ errors });
}

function couponView(row: CouponRow): CouponView {
  const { discountType: type, discountValue: value, maxDiscount, status, ...rest } = row;
  const discount = maxDiscount === null ? { type, value } : { type, value, maxDiscount };
  const { id, name, minOrder, total, issued, perUserLimit, startsAt, endsAt } = rest;
  return {
    id,
    name,
    discount,
    minOrder,
    total,
    issued,
    remaining: total - issued,
    perUserLimit,
    startsAt,
    endsAt,
    status,
  };
}

function userCouponView({ id, ...row }: UserCouponRow): UserCouponView {
  return { userCouponId: id, ...row };
}
