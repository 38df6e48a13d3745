import { LockUsageError } from './errors.js';

const maxKeyBytes = 512;
const maxKeys = 100;
// Braces would move the key to another Cluster slot than its fence and its line.
// oxlint-disable-next-line no-control-regex
const forbidden = /[{}\u0000-\u001f\u007f]/;

// On a single node `lock:fence:a` would be the lock of "fence:a" and the counter of "a" at once.
const reserved = /^(?:fence|queue|release):/;

/** What one acquisition locks: one key, or several that are taken together. */
export interface Target {
  /** The same for the same set of keys, whatever the order they were given in. */
  readonly id: string;
  /** For messages: the key, or all of them. */
  readonly key: string;
  /** Sorted and without duplicates: two callers never take two keys in opposite orders. */
  readonly keys: readonly string[];
}

export function targetOf(keys: string | readonly string[]): Target {
  if (typeof keys === 'string') {
    checkKey(keys);
    return { id: keys, key: keys, keys: [keys] };
  }
  if (!Array.isArray(keys) || keys.length === 0) throw new LockUsageError('Give a key, or a list of at least one key.');
  if (keys.length > maxKeys)
    throw new LockUsageError(`At most ${maxKeys} keys can be taken together, not ${keys.length}.`);
  for (const key of keys) checkKey(key);
  const sorted = [...new Set<string>(keys)].toSorted();
  return { id: sorted.join('\n'), key: sorted.join(', '), keys: sorted };
}

function checkKey(key: unknown): void {
  if (typeof key !== 'string' || key === '')
    throw new LockUsageError('A lock key must be a string that is not empty.', key);
  if (Buffer.byteLength(key) > maxKeyBytes) {
    throw new LockUsageError(`A lock key is at most ${maxKeyBytes} bytes long: hash the long part.`, key);
  }
  if (forbidden.test(key)) throw new LockUsageError('A lock key has no braces and no control characters.', key);
  if (reserved.test(key))
    throw new LockUsageError('A lock key does not begin with "fence:", "queue:" or "release:".', key);
}

/**
 * The key's template, for metrics: `coupon:issue:42` is `coupon:issue:*`. A part that could be an id (anything but
 * lower-case words) becomes `*`. Ids that look like words need a `labelOf` of the application's own.
 */
export function templateOf(key: string): string {
  return key
    .split(':')
    .map((part) => (/^[a-z]+(?:[-_][a-z]+)*$/.test(part) && part.length <= 24 ? part : '*'))
    .join(':');
}

/** Bounds the number of labels: user input in a key must not become unbounded memory in a metrics registry. */
export function boundedLabels(labelOf: (key: string) => string, limit = 100): (key: string) => string {
  const seen = new Set<string>();
  return (key) => {
    const label = labelOf(key);
    if (seen.has(label)) return label;
    if (seen.size >= limit) return 'other';
    seen.add(label);
    return label;
  };
}
