// A longer critical section, for the sweep: PostgreSQL itself works a while at the end of the statement that issues, while
// the coupon's row is locked and whoever holds a turn keeps it. One time per turn: the whole batch of `batched` pays it once.
// The apps know nothing of it; and should nobody take it away again, it does nothing after its time.
import { rowsOf } from './stores.js';
import type { Stores } from './stores.js';

const name = 'firstcome_load_hold';
const endsByItselfAfterMs = 120_000;

export async function holdFor({ coupon }: Pick<Stores, 'coupon'>, holdMs: number): Promise<void> {
  const until = new Date(Date.now() + endsByItselfAfterMs).toISOString();
  await noHold({ coupon });
  // Only where a coupon was really given: a refused or overtaken attempt has no turn to hold.
  await coupon.query(`
    create or replace function ${name}() returns trigger language plpgsql as $$
    begin
      if exists (select from given) and clock_timestamp() < '${until}' then perform pg_sleep(${holdMs / 1000}); end if;
      return null;
    end $$`);
  await coupon.query(
    `create trigger ${name} after insert on user_coupons
       referencing new table as given for each statement execute function ${name}()`,
  );
}

/** Before every block too: what a killed run left behind must not slow the next one. */
export async function noHold({ coupon }: Pick<Stores, 'coupon'>): Promise<void> {
  const [found] = await rowsOf(coupon, 'select from pg_trigger where tgname = $1', [name]);
  if (!found) return;
  await coupon.query(`drop trigger if exists ${name} on user_coupons`);
  await coupon.query(`drop function if exists ${name}()`);
}
