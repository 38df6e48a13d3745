import { createHash } from 'node:crypto';
import { acceptedAgain } from './accepted.js';
import { httpErrors } from './http.errors.js';
import { ProblemError } from './problem.js';
import { problemBody } from './problem-document.js';

/** The only thing this library knows of a database. */
export interface SqlExecutor {
  query<R>(statement: { name: string; text: string }, values: unknown[]): Promise<R[]>;
}

export interface SqlTransaction extends SqlExecutor {
  /** Runs work; when it throws, everything since the start of work is undone and the transaction goes on. */
  savepoint<R>(work: () => Promise<R>): Promise<R>;
}

export interface IdempotentRequest {
  /** Absent only where the key is optional and was not sent. */
  key?: string;
  /** User, method and path with its ids. */
  scope: string;
  /** A digest of the canonical body and query. */
  fingerprint: string;
  /** Goes into a refusal that is stored. */
  traceId: string;
}

/** A decided answer: its body is serialised once, and replayed byte for byte. */
export interface Answer {
  status: number;
  body: string;
  replayed: boolean;
  /** Sent with the first answer only: they are not stored. But for the Location of a ticket, which follows from the body. */
  headers?: Record<string, string>;
}

/** The table behind the keys, for the first migration of each app. `id` is the digest of scope and key. */
export const idempotencyTableSql = `
create table idempotency_keys (
  id bytea primary key check (octet_length(id) = 32),
  fingerprint text not null,
  status smallint not null check (status between 200 and 499),
  body text not null,
  created_at timestamptz not null default now()
);
create index idempotency_keys_created_at on idempotency_keys (created_at);
`;

/** For an app whose requests may take several transactions: a key without an answer is in progress. */
export const idempotencyInProgressSql = `
alter table idempotency_keys
  alter column status drop not null,
  alter column body drop not null,
  add constraint idempotency_keys_answered check ((status is null) = (body is null));
`;

const find = {
  name: 'idempotency-find',
  text: 'select fingerprint, status, body from idempotency_keys where id = $1',
};
// A UNIQUE key claimed in a transaction makes its copies wait for the commit, each on a connection: hence try, never wait.
const tryClaim = { name: 'idempotency-try-claim', text: 'select pg_try_advisory_xact_lock($1::bigint) as claimed' };
const store = {
  name: 'idempotency-store',
  text: 'insert into idempotency_keys (id, fingerprint, status, body) values ($1, $2, $3, $4)',
};

const begin = {
  name: 'idempotency-begin',
  text: 'insert into idempotency_keys (id, fingerprint) values ($1, $2) on conflict (id) do nothing returning id',
};
// Also where it was given up meanwhile: then a refusal that is final all the same.
const storeBegun = {
  name: 'idempotency-store-begun',
  text: `insert into idempotency_keys (id, fingerprint, status, body) values ($1, $2, $3, $4)
         on conflict (id) do update set status = excluded.status, body = excluded.body
          where idempotency_keys.status is null`,
};
const giveUp = { name: 'idempotency-give-up', text: 'delete from idempotency_keys where id = $1 and status is null' };

export interface StoredAnswer {
  fingerprint: string;
  /** Null while the request is in progress, like the body. */
  status: number | null;
  body: string | null;
}

export const idempotency = {
  /** The stored answer of this key. Looked up before rate limits, short cuts and locks. */
  async replay(executor: SqlExecutor, request: IdempotentRequest): Promise<Answer | undefined> {
    return request.key === undefined ? undefined : lookUp(executor, keyId(request), request);
  },

  /**
   * Decides a request at most once. Call it inside the transaction of the effect: the answer is stored with the effect,
   * or, for a final refusal, after the effect was undone to a savepoint. Contention and failures are not stored.
   */
  async once(
    tx: SqlTransaction,
    request: IdempotentRequest,
    decide: () => Promise<Answer>,
    { begun = false }: { begun?: boolean } = {},
  ): Promise<Answer> {
    if (request.key === undefined) return decide();
    const id = keyId(request);
    const [claim] = await tx.query<{ claimed: boolean }>(tryClaim, [id.readBigInt64BE().toString()]);
    if (!claim?.claimed) throw httpErrors.IDEMPOTENCY_IN_PROGRESS();
    // A second statement, so that its snapshot sees what an earlier holder of the claim committed.
    const earlier = await lookUp(tx, id, request, begun);
    if (earlier) return earlier;
    const answer = await decideOrRefuse(tx, request, decide);
    await tx.query(begun ? storeBegun : store, [id, request.fingerprint, answer.status, answer.body]);
    return answer;
  },

  /**
   * For a request that takes several transactions, in the first of them: the key is in progress from its commit on, whatever
   * becomes of this process, until once() decides it (with `begun`) or giveUp() frees it.
   */
  async begin(tx: SqlExecutor, request: IdempotentRequest): Promise<void> {
    if (request.key === undefined) return;
    const id = keyId(request);
    if ((await tx.query(begin, [id, request.fingerprint])).length === 1) return;
    await lookUp(tx, id, request);
    // Answered or freed at this very moment: the next try finds out.
    throw httpErrors.IDEMPOTENCY_IN_PROGRESS();
  },

  /** Nothing was decided, and nothing will be by whoever has begun it. An answer stays. */
  async giveUp(executor: SqlExecutor, id: Buffer): Promise<void> {
    await executor.query(giveUp, [id]);
  },
};

async function lookUp(
  executor: SqlExecutor,
  id: Buffer,
  request: IdempotentRequest,
  begun = false,
): Promise<Answer | undefined> {
  const [stored] = await executor.query<StoredAnswer>(find, [id]);
  if (!stored || (begun && stored.status === null)) return undefined;
  return storedAnswer(stored, request);
}

export function storedAnswer({ fingerprint, status, body }: StoredAnswer, request: IdempotentRequest): Answer {
  if (fingerprint !== request.fingerprint) throw httpErrors.IDEMPOTENCY_KEY_REUSED();
  if (status === null || body === null) throw httpErrors.IDEMPOTENCY_IN_PROGRESS();
  return status === 202 ? acceptedAgain(body) : { status, body, replayed: true };
}

async function decideOrRefuse(tx: SqlTransaction, request: IdempotentRequest, decide: () => Promise<Answer>) {
  try {
    return await tx.savepoint(decide);
  } catch (error) {
    const refused = finalRefusal(error, request);
    if (!refused) throw error;
    return refused;
  }
}

/** A refusal that stays true is an answer like another. */
export function finalRefusal(error: unknown, request: IdempotentRequest): Answer | undefined {
  if (!(error instanceof ProblemError) || !isFinal(error)) return undefined;
  const { status, headers } = error.problem;
  return { status, body: problemBody(error.problem, request.traceId), replayed: false, headers };
}

function isFinal({ problem }: ProblemError): boolean {
  return problem.status >= 400 && problem.status < 500 && !problem.retryable;
}

export function keyId(request: IdempotentRequest): Buffer {
  return createHash('sha256').update(request.scope).update('\0').update(request.key!).digest();
}
