import { encodeCursor } from '@firstcome/http';

/** One row more than the page was read: it says whether there is a next page. */
export function page<R extends { id: number | string }, V>(rows: R[], limit: number, view: (row: R) => V) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items: items.map(view), nextCursor: rows.length > limit && last ? encodeCursor([last.id]) : null };
}
