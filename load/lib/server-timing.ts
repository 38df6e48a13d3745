// Where a request's time went, as the app says in its Server-Timing header. Pure: k6 and Node both run this file.

export interface ServerTiming {
  /** Milliseconds waited for the lock. */
  lock: number;
  /** Milliseconds the lock was held. */
  hold: number;
  /** Milliseconds in the database. */
  db: number;
}

/** `lock;dur=1.2, hold;dur=3, db;dur=2.5`, in any order, other metrics ignored; undefined unless all three are there. */
export function parseServerTiming(header: string | undefined): ServerTiming | undefined {
  if (!header) return undefined;
  const found: Record<string, number> = {};
  for (const metric of header.split(',')) {
    const [name = '', ...parameters] = metric.split(';').map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.toLowerCase().startsWith('dur='));
    const ms = Number(duration?.slice('dur='.length).replaceAll('"', ''));
    if (duration !== undefined && Number.isFinite(ms) && ms >= 0) found[name.toLowerCase()] = ms;
  }
  const { lock, hold, db } = found;
  return lock === undefined || hold === undefined || db === undefined ? undefined : { lock, hold, db };
}
