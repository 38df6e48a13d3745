import type { Answer } from '@firstcome/http';
import { Injectable } from '@nestjs/common';
import { IssueRepository } from './issue.repository.js';
import type { Reasons } from './issue.repository.js';
import { CriticalSection } from './critical-section.js';
import { refusal } from './refusal.js';
import type { Grab } from './strategy.js';

interface Question {
  userId: string;
  resolve(reasons: Reasons | undefined): void;
  reject(error: unknown): void;
}

const mostRemembered = 10_000;
const mostAtOnce = 500;

/**
 * Who comes after the last coupon is told so without the lock. What is remembered is only that it is worth asking: the
 * answer is read from the database each time, so it is right at once when a total is raised. Questions that arrive while
 * one is under way are asked together by the next, which begins after they came.
 */
@Injectable()
export class SoldOut {
  private readonly remembered = new Set<number>();
  private readonly questions = new Map<number, Question[]>();

  constructor(
    private readonly coupons: IssueRepository,
    private readonly section: CriticalSection,
  ) {}

  note(couponId: number): void {
    const [oldest] = this.remembered;
    if (this.remembered.size >= mostRemembered && oldest !== undefined) this.remembered.delete(oldest);
    this.remembered.add(couponId);
  }

  /** Throws the refusal, or returns it where it is stored under a key; undefined where a turn may bring a coupon. */
  async answer(grab: Grab): Promise<Answer | undefined> {
    const { couponId, request } = grab;
    if (!this.remembered.has(couponId)) return undefined;
    const no = refusal(await this.ask(grab));
    if (!no) {
      this.remembered.delete(couponId);
      return undefined;
    }
    // A key wants its answer stored: the one statement decides again, in the transaction that stores it.
    if (request.key !== undefined) return this.section.issue(grab);
    throw no;
  }

  private ask({ couponId, userId }: Grab): Promise<Reasons | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = this.questions.get(couponId);
      const question = { userId, resolve, reject };
      if (waiting) {
        waiting.push(question);
      } else {
        this.questions.set(couponId, [question]);
        void this.askAll(couponId);
      }
    });
  }

  private async askAll(couponId: number): Promise<void> {
    for (let asked = this.next(couponId); asked.length > 0; asked = this.next(couponId)) {
      try {
        const users = asked.map(({ userId }) => userId);
        const reasons = await this.coupons.standingOfMany(undefined, couponId, users);
        for (const [place, question] of asked.entries()) question.resolve(reasons[place]);
      } catch (error) {
        for (const question of asked) question.reject(error);
      }
    }
    this.questions.delete(couponId);
  }

  private next(couponId: number): Question[] {
    return this.questions.get(couponId)?.splice(0, mostAtOnce) ?? [];
  }
}
