import { idempotency, ProblemError, uuidv7 } from '@firstcome/http';
import type { Answer } from '@firstcome/http';
import { StaleFenceError } from '@firstcome/lock';
import type { Lease } from '@firstcome/lock';
import { Database, databaseErrors, isCheckViolation, isUniqueViolation } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { IssueRepository } from './issue.repository.js';
import type { Executor, Proof, Standing } from './issue.repository.js';
import { safetyNetTrips } from './metrics.js';
import { created, refusal } from './refusal.js';
import type { Grab } from './strategy.js';

/** How a strategy made sure that nobody else is in here, and what the issue insists on because of it. */
export interface Turn {
  strategy: string;
  /** Taken before the transaction: its fence goes into the row. */
  lease?: Pick<Lease, 'key' | 'fence' | 'store' | 'assertHeld'>;
  /** Taken inside the transaction, in statements of its own: the issue then sees all that was committed before. */
  enter?: (tx: Transaction) => Promise<Proof | void>;
}

/** The row changed between the look and the write. What it read is gone with the transaction: begin a new one. */
export class VersionChanged extends Error {}

// Somebody may get in between a look and a write: a copy of the same user's request, a resumed coupon. Each look then
// sees more than the one before, so a few are enough; after them the client is told to come back.
const maxLooks = 5;

@Injectable()
export class CriticalSection {
  constructor(
    private readonly database: Database,
    private readonly coupons: IssueRepository,
  ) {}

  /** Issues one coupon or says why not. */
  async issue(grab: Grab, turn?: Turn): Promise<Answer> {
    // Without a key there is no answer to store: the statement is its own transaction, in one round trip. A lease that
    // ends meanwhile does no harm: the statement itself compares the fence.
    const alone = grab.request.key === undefined && !turn?.enter;
    for (let look = 1; look <= maxLooks; look++) {
      try {
        turn?.lease?.assertHeld();
        return alone ? await this.issueOne(this.database, grab, turn) : await this.inTransaction(grab, turn);
      } catch (error) {
        if (turn && isTrip(error)) safetyNetTrips.inc({ strategy: turn.strategy });
        if (!(error instanceof Overtaken) && !isUniqueViolation(error, 'user_coupons_nth_once')) throw error;
      }
    }
    throw new ProblemError(databaseErrors.CONCURRENT_UPDATE);
  }

  /** Claim the key, issue, store the answer, commit while the turn lasts. */
  private inTransaction(grab: Grab, turn?: Turn): Promise<Answer> {
    const decide = (tx: Transaction) => async () => this.issueOne(tx, grab, turn, await turn?.enter?.(tx));
    return this.database.transaction((tx) => idempotency.once(tx, grab.request, decide(tx)), {
      beforeCommit: () => turn?.lease?.assertHeld(),
    });
  }

  private async issueOne(db: Executor, grab: Grab, turn?: Turn, proof: Proof | void = fenceOf(turn)): Promise<Answer> {
    const { couponId, userId } = grab;
    const issued = await this.coupons.issueOne(db, couponId, userId, uuidv7(), proof ?? {});
    if (issued) return created(issued);
    const standing = await this.coupons.standing(db, couponId, userId);
    throw refusal(standing) ?? overtaken(standing!, proof ?? {}, turn);
  }
}

class Overtaken extends Error {}

/** The column of the fence is that of the lock's store: fences of two stores cannot be compared. */
export function fenceOf({ lease }: Pick<Turn, 'lease'> = {}): Proof {
  if (!lease) return {};
  return lease.store === 'redlock' ? { redlockFence: lease.fence } : { fence: lease.fence };
}

function overtaken(standing: Standing, proof: Proof, turn?: Turn): Error {
  const { fence = Infinity, redlockFence = Infinity, version } = proof;
  const about = { key: turn?.lease?.key ?? '' };
  if (fence < standing.fence) return new StaleFenceError(fence, standing.fence, about);
  if (redlockFence < standing.redlockFence) return new StaleFenceError(redlockFence, standing.redlockFence, about);
  return version !== undefined && version !== standing.version ? new VersionChanged() : new Overtaken();
}

/** One of the rules of the database had to act although it was this request's turn. */
export function isTrip(error: unknown): boolean {
  return error instanceof StaleFenceError || isUniqueViolation(error) || isCheckViolation(error);
}
