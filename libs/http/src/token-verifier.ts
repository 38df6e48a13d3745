import { createHash, timingSafeEqual } from 'node:crypto';
import type { AuthOptions, User } from './auth.js';
import { InOrder } from './in-order.js';
import { tokenCheck, type TokenCheck } from './token-check.js';

const CACHE_SIZE = 10_000;
const MAX_TOKEN_LENGTH = 4096;
const MAX_SUBJECT_LENGTH = 255;
// NUL, and half of a surrogate pair.
const UNSTORABLE = /\0|\p{Surrogate}/u;

interface VerifiedToken {
  user: User;
  expiresAtMs: number;
}

/** Verifies user tokens. A verified one is remembered until it expires: a signature costs more than the rest of a read. */
export class TokenVerifier {
  private readonly verified = new Map<string, VerifiedToken>();
  private readonly check: TokenCheck;
  /** Not with a key server: one unknown key would make everybody wait for its answer. */
  private readonly order: InOrder | undefined;
  private readonly serviceDigest: Buffer;

  constructor(
    options: AuthOptions,
    private readonly cacheSize = CACHE_SIZE,
  ) {
    this.check = tokenCheck(options);
    this.order = options.secret === undefined ? undefined : new InOrder();
    this.serviceDigest = digest(options.serviceToken);
  }

  isServiceToken(token: string): boolean {
    return timingSafeEqual(digest(token), this.serviceDigest);
  }

  /** The user of a token remembered from before, without leaving this tick. */
  cached(token: string): User | undefined {
    const entry = this.verified.get(token);
    if (!entry) return undefined;
    this.verified.delete(token);
    if (entry.expiresAtMs <= Date.now()) return undefined;
    // Back at the young end: the Map's order is the order of use.
    this.verified.set(token, entry);
    return entry.user;
  }

  /** The user of a token, and nobody before one who asked earlier; without leaving this tick where nobody did. */
  inTurn(token: string): User | undefined | Promise<User | undefined> {
    const cached = this.cached(token);
    if (cached && (!this.order || this.order.idle)) return cached;
    const user = cached ? Promise.resolve(cached) : this.verify(token);
    return this.order ? this.order.after(user) : user;
  }

  /** Remembered, or verified now. */
  async userOf(token: string): Promise<User | undefined> {
    return this.cached(token) ?? this.verify(token);
  }

  async verify(token: string): Promise<User | undefined> {
    if (token.length > MAX_TOKEN_LENGTH) return undefined;
    const payload = await this.check(token);
    if (!payload?.exp || !isSubject(payload.sub)) return undefined;
    const user: User = { id: payload.sub, admin: payload.role === 'admin' };
    this.remember(token, { user, expiresAtMs: payload.exp * 1000 });
    return user;
  }

  private remember(token: string, entry: VerifiedToken): void {
    if (this.verified.size >= this.cacheSize) {
      const oldest = this.verified.keys().next();
      if (!oldest.done) this.verified.delete(oldest.value);
    }
    this.verified.set(token, entry);
  }
}

/** A subject becomes a column value: text that PostgreSQL can store as it is, and of bounded length. */
function isSubject(subject: unknown): subject is string {
  return (
    typeof subject === 'string' &&
    subject.length > 0 &&
    subject.length <= MAX_SUBJECT_LENGTH &&
    !UNSTORABLE.test(subject)
  );
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
