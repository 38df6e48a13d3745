import { Database } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { couponErrors } from './coupon.errors.js';
import type { PrepareDto, TransactionOutcome, TransactionView } from './transaction.dto.js';
import { transactionErrors } from './transaction.errors.js';
import { TransactionRepository } from './transaction.repository.js';
import type { CouponUseView } from './user-coupon.dto.js';
import { UserCouponService } from './user-coupon.service.js';

/**
 * This service's half of an order that is committed in two phases: reserve, prepared and in doubt until the order service
 * says how it ended. Each is idempotent per gid. What is in doubt keeps its locks, also over a restart of PostgreSQL; nobody here
 * ends it by guessing, since only the order service knows what was decided.
 */
@Injectable()
export class TransactionService {
  constructor(
    private readonly database: Database,
    private readonly transactions: TransactionRepository,
    private readonly userCoupons: UserCouponService,
  ) {}

  async prepare(gid: string, { userCouponId, pay = false, ...order }: PrepareDto): Promise<CouponUseView> {
    const prepared = await this.database.transaction(
      async (tx) => {
        await this.transactions.hurry(tx);
        const standing = await this.transactions.standing(tx, gid);
        // The rollback came first: it forbids what was still on its way.
        if (standing === 'ROLLED_BACK') throw couponErrors.COUPON_NOT_USABLE();
        if (standing) return { use: await this.userCoupons.taken(tx, userCouponId, order, pay), fresh: false };
        const reserved = await this.userCoupons.take(tx, userCouponId, order);
        const use = pay ? await this.userCoupons.use(tx, userCouponId, order.orderId) : reserved;
        if (!(await this.transactions.record(tx, gid, 'COMMITTED'))) throw couponErrors.COUPON_NOT_USABLE();
        return { use, fresh: true };
      },
      { prepareAs: ({ fresh }) => (fresh ? gid : undefined) },
    );
    return prepared.use;
  }

  async commit(gid: string): Promise<TransactionView> {
    if (await this.database.commitPrepared(gid)) return { gid, outcome: 'COMMITTED' };
    const outcome = await this.transactions.outcome(gid);
    if (!outcome) throw transactionErrors.TRANSACTION_NOT_FOUND();
    return endedAs('COMMITTED', gid, outcome);
  }

  /** Also of one that was never heard of, or is being prepared at this moment: it finds this row, or this waits for it. */
  async rollback(gid: string): Promise<TransactionView> {
    await this.database.rollbackPrepared(gid);
    const forbidden = await this.database.transaction(async (tx) => {
      await this.transactions.hurry(tx);
      return this.transactions.record(tx, gid, 'ROLLED_BACK');
    });
    return endedAs('ROLLED_BACK', gid, forbidden ? 'ROLLED_BACK' : await this.transactions.outcome(gid));
  }
}

function endedAs(wanted: TransactionOutcome, gid: string, outcome?: TransactionOutcome): TransactionView {
  if (outcome !== wanted) throw transactionErrors.TRANSACTION_DECIDED({ extra: { outcome } });
  return { gid, outcome };
}
