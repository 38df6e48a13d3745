import type { SqlExecutor } from './idempotency.js';

/**
 * Up to when answers may be missing because they were old: an invariant that looks for the answer of each effect looks no
 * further back. One row.
 */
export const purgeTableSql = `
create table idempotency_purges (
  only_row boolean primary key default true constraint idempotency_purges_one check (only_row),
  purged_before timestamptz not null
);
`;

// Where a ticket still waits, its keys are in progress: the one it was accepted under and, perhaps, the one of its work.
// Both are younger than the ticket, so nothing younger than the oldest waiting ticket goes.
const purgeKeys = {
  name: 'idempotency-purge',
  text: `with cutoff as materialized (
           select least(now() - make_interval(secs => $1::float8 / 1000), min(created_at)) as at
             from tickets where status is null
         ), gone as (
           delete from idempotency_keys where id in (
             select id from idempotency_keys, cutoff
              where created_at < cutoff.at and status is not null order by created_at limit $2)
           returning id
         ), noted as (
           insert into idempotency_purges (purged_before) select at from cutoff where exists (select from gone)
           on conflict (only_row) do update
             set purged_before = greatest(idempotency_purges.purged_before, excluded.purged_before)
         )
         select count(*)::int as gone from gone`,
};
const purgeTickets = {
  name: 'ticket-purge',
  text: `with gone as (
           delete from tickets where id in (
             select id from tickets
              where status is not null and done_at < now() - make_interval(secs => $1::float8 / 1000)
              order by done_at limit $2)
           returning id
         )
         select count(*)::int as gone from gone`,
};

const batchLimit = 1000;
// What is left is for the next run: a purge is never long, whatever has piled up.
const mostBatches = 100;

/** Forgets the answers, and the tickets that are done, that are older than the time for which a key is kept. */
export async function purgeAnswers(executor: SqlExecutor, ttlMs: number, limit = batchLimit) {
  return {
    keys: await purge(executor, purgeKeys, ttlMs, limit),
    tickets: await purge(executor, purgeTickets, ttlMs, limit),
  };
}

async function purge(executor: SqlExecutor, statement: typeof purgeKeys, ttlMs: number, limit: number) {
  let purged = 0;
  for (let batch = 0; batch < mostBatches; batch++) {
    const [row] = await executor.query<{ gone: number }>(statement, [ttlMs, limit]);
    purged += row!.gone;
    if (row!.gone < limit) break;
  }
  return purged;
}
