import type { Answer, IdempotentRequest, SqlExecutor } from './idempotency.js';
import { finalRefusal, keyId, storedAnswer } from './idempotency.js';
import type { StoredAnswer } from './idempotency.js';
import { httpErrors } from './http.errors.js';
import { ProblemError } from './problem.js';

const tryClaims = {
  name: 'idempotency-try-claims',
  text: `select pg_try_advisory_xact_lock(number) as claimed
           from unnest($1::bigint[]) with ordinality as claim (number, place) order by place`,
};
const findAll = {
  name: 'idempotency-find-all',
  text: 'select id, fingerprint, status, body from idempotency_keys where id = any($1::bytea[])',
};
const storeAll = {
  name: 'idempotency-store-all',
  text: `insert into idempotency_keys (id, fingerprint, status, body)
         select * from unnest($1::bytea[], $2::text[], $3::int[], $4::text[])`,
};

type Outcome = Answer | Error;

/** The requests of one transaction that carry the same key: the first decides, the others are its copies. */
interface Claim {
  id: Buffer;
  places: number[];
}

/**
 * `idempotency.once` for many requests in one transaction, in a few statements whatever their number. `decide` gets the
 * places of those that are still open, and returns one outcome for each; a refusal must not have had an effect.
 */
export async function onceForEach(
  tx: SqlExecutor,
  requests: readonly IdempotentRequest[],
  decide: (open: number[]) => Promise<Outcome[]>,
): Promise<Outcome[]> {
  const claims = claimsOf(requests);
  if (claims.length === 0) return decide(requests.map((_, place) => place));
  const outcomes = Array.from<Outcome | undefined>({ length: requests.length });
  const mine = await claim(tx, claims, requests, outcomes);
  // Copies wait for the one that decides for them, and are no work of their own.
  const copies = new Set(claims.flatMap(({ places }) => places.slice(1)));
  const open = [...requests.keys()].filter((place) => outcomes[place] === undefined && !copies.has(place));
  const decided = open.length > 0 ? await decide(open) : [];
  for (const [at, place] of open.entries()) outcomes[place] = decided[at]!;
  await store(tx, mine, requests, outcomes);
  for (const { places } of mine) answerCopies(places, requests, outcomes);
  return outcomes as Outcome[];
}

function claimsOf(requests: readonly IdempotentRequest[]): Claim[] {
  const claims = new Map<string, Claim>();
  for (const [place, request] of requests.entries()) {
    if (request.key === undefined) continue;
    const id = keyId(request);
    const name = id.toString('base64');
    const known = claims.get(name);
    if (known) known.places.push(place);
    else claims.set(name, { id, places: [place] });
  }
  return [...claims.values()];
}

/** Fills in what is in progress elsewhere or answered already; the claims that are left are this transaction's to decide. */
async function claim(
  tx: SqlExecutor,
  claims: Claim[],
  requests: readonly IdempotentRequest[],
  outcomes: (Outcome | undefined)[],
): Promise<Claim[]> {
  const numbers = claims.map(({ id }) => id.readBigInt64BE().toString());
  const tried = await tx.query<{ claimed: boolean }>(tryClaims, [numbers]);
  // A second statement, so that its snapshot sees what an earlier holder of a claim committed.
  const found = await tx.query<StoredAnswer & { id: Buffer }>(findAll, [claims.map(({ id }) => id)]);
  const stored = new Map(found.map((row) => [row.id.toString('base64'), row]));
  return claims.filter(({ id, places }, at) => {
    const earlier = tried[at]?.claimed ? stored.get(id.toString('base64')) : undefined;
    if (tried[at]?.claimed && !earlier) return true;
    for (const place of places) {
      outcomes[place] = earlier ? outcomeOf(earlier, requests[place]!) : httpErrors.IDEMPOTENCY_IN_PROGRESS();
    }
    return false;
  });
}

async function store(
  tx: SqlExecutor,
  claims: Claim[],
  requests: readonly IdempotentRequest[],
  outcomes: (Outcome | undefined)[],
): Promise<void> {
  const rows: [Buffer, string, number, string][] = [];
  for (const { id, places } of claims) {
    const place = places[0]!;
    const outcome = outcomes[place]!;
    // A final refusal becomes an answer here, as it will be replayed; contention is not stored.
    const answer = outcome instanceof Error ? finalRefusal(outcome, requests[place]!) : outcome;
    if (!answer) continue;
    outcomes[place] = answer;
    rows.push([id, requests[place]!.fingerprint, answer.status, answer.body]);
  }
  if (rows.length === 0) return;
  await tx.query(
    storeAll,
    [0, 1, 2, 3].map((column) => rows.map((row) => row[column])),
  );
}

function answerCopies(
  [first, ...copies]: number[],
  requests: readonly IdempotentRequest[],
  outcomes: (Outcome | undefined)[],
): void {
  const decided = outcomes[first!]!;
  const { fingerprint } = requests[first!]!;
  for (const place of copies) {
    outcomes[place] = decided instanceof Error ? decided : outcomeOf({ fingerprint, ...decided }, requests[place]!);
  }
}

function outcomeOf(stored: StoredAnswer, request: IdempotentRequest): Outcome {
  try {
    return storedAnswer(stored, request);
  } catch (error) {
    if (error instanceof ProblemError) return error;
    throw error;
  }
}
