import { encodeCursor } from './cursor.js';

/** A keyset page from rows that were read with `limit + 1`: the one too many only says that there is a next page. */
export function page<R extends { id: number | string }, V>(rows: R[], limit: number, view: (row: R) => V) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(view), nextCursor: rows.length > limit && last ? encodeCursor([last.id]) : null };
}
