import { idempotency, ProblemError, uuidv7 } from '@firstcome/http';
import type { Answer } from '@firstcome/http';
import { StaleFenceError } from '@firstcome/lock';
import { Database, databaseErrors, isUniqueViolation } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { couponErrors } from '../coupon.errors.js';
import { CouponRepository } from '../coupon.repository.js';
import type { Executor, Standing, UserCouponRow } from '../coupon.repository.js';
import type { Grab } from './strategy.js';

/** What a turn taken under a lock brings along. */
export interface Turn {
  key: string;
  fence: number;
  assertHeld(): void;
}

// Somebody may get in between a look and a write: a copy of the same user's request, a fence drawn later, a resumed
// coupon. Each look then sees more than the one before, so a few are enough; after them the client is told to come back.
const maxLooks = 5;

@Injectable()
export class CriticalSection {
  constructor(
    private readonly database: Database,
    private readonly coupons: CouponRepository,
  ) {}

  /** One transaction: claim the key, issue one coupon or say why not, store the answer, commit while the turn lasts. */
  issue(grab: Grab, turn?: Turn): Promise<Answer> {
    return this.lookAgain(() =>
      this.database.transaction((tx) => idempotency.once(tx, grab.request, () => this.issueOne(tx, grab, turn)), {
        beforeCommit: () => turn?.assertHeld(),
      }),
    );
  }

  /** Without a key there is no answer to store: the statement is its own transaction, in one round trip. */
  issueInOneStatement(grab: Grab): Promise<Answer> {
    return this.lookAgain(() => this.issueOne(this.database, grab));
  }

  private async issueOne(db: Executor, grab: Grab, turn?: Turn): Promise<Answer> {
    const issued = await this.coupons.issueOne(db, grab.couponId, grab.userId, uuidv7(), turn?.fence);
    if (issued) return created(issued);
    throw refusal(await this.coupons.standing(db, grab.couponId, grab.userId), turn);
  }

  private async lookAgain(issue: () => Promise<Answer>): Promise<Answer> {
    for (let look = 1; look <= maxLooks; look++) {
      try {
        return await issue();
      } catch (error) {
        if (!(error instanceof Overtaken) && !isUniqueViolation(error, 'user_coupons_nth_once')) throw error;
      }
    }
    throw new ProblemError(databaseErrors.CONCURRENT_UPDATE);
  }
}

class Overtaken extends Error {}

function created(row: UserCouponRow): Answer {
  const { id, ...rest } = row;
  return { status: 201, body: JSON.stringify({ userCouponId: id, ...rest }), replayed: false };
}

/** The order is the contract's: not found, not started, ended, paused, already issued, sold out. */
function refusal(standing: Standing | undefined, turn?: Turn): Error {
  if (!standing) return couponErrors.COUPON_NOT_FOUND();
  if (standing.status === 'NOT_STARTED') return couponErrors.COUPON_NOT_STARTED();
  if (standing.status === 'ENDED') return couponErrors.COUPON_ENDED();
  if (standing.status === 'PAUSED') return couponErrors.COUPON_PAUSED();
  if (standing.held >= standing.perUserLimit) {
    return couponErrors.COUPON_ALREADY_ISSUED({ extra: { userCouponId: standing.userCouponId } });
  }
  if (standing.status === 'SOLD_OUT') return couponErrors.COUPON_SOLD_OUT();
  if (turn && turn.fence < standing.fence) return new StaleFenceError(turn.fence, standing.fence, { key: turn.key });
  return new Overtaken();
}
