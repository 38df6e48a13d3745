// The runner as a client of the system: it prepares a block through the front door, like anybody would.
import { LoadError } from './progress.js';

export interface ApiCall {
  token: string;
  body?: unknown;
  key?: string;
  headers?: Record<string, string>;
}

export interface ApiAnswer {
  status: number;
  json: Record<string, unknown>;
}

export async function ask(
  method: 'GET' | 'POST',
  url: string,
  { token, body, key, headers }: ApiCall,
): Promise<ApiAnswer> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    },
    ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  return { status: response.status, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

/** What preparing a block needs must work: anything but 2xx ends the run, with what was answered. */
export async function post<R>(url: string, call: ApiCall): Promise<R> {
  const { status, json } = await ask('POST', url, call);
  if (status < 200 || status > 299) throw new LoadError(`POST ${url} answered ${status} ${JSON.stringify(json)}`);
  return json as R;
}

/** So many at a time: the preparation of thousands of users is no load test. */
export async function eachOf<T, R>(
  items: readonly T[],
  work: (item: T, place: number) => Promise<R>,
  atOnce = 16,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const place = next;
      next += 1;
      results[place] = await work(items[place]!, place);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
