import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { definedCodes as problems } from './problems.js';

// docs/errors.md has one row per code: | `CODE` | 409 | no | what happened and what to do |
const rows = [...readFileSync('docs/errors.md', 'utf8').matchAll(/^\| `([A-Z_]+)` +\| (\d{3}) +\| (yes|no) +\|/gm)];
const documented = rows.map(([, code, status, retryable]) => `${code} ${status} ${retryable}`);

const unique = (texts: string[]) => [...new Set(texts)].toSorted();

describe('the errors of all apps and libraries', () => {
  it('are found', () => expect(problems.length).toBeGreaterThan(40));

  it('are each in docs/errors.md with status and whether to repeat, and nothing else is', () => {
    const defined = problems.map(({ code, status, retryable }) => `${code} ${status} ${retryable ? 'yes' : 'no'}`);
    expect(unique(documented)).toEqual(unique(defined));
  });

  it('mean the same wherever a code is defined twice', () => {
    const meanings = unique(problems.map(({ code, status, retryable }) => `${code} ${status} ${retryable}`));
    expect(meanings.length).toBe(unique(problems.map(({ code }) => code)).length);
  });

  it('say what to do: a detail is more than the title again, in whole sentences', () => {
    expect(
      problems.filter(({ detail }) => detail.length < 30 || !detail.endsWith('.')).map(({ code }) => code),
    ).toEqual([]);
  });

  it('have the status that the contract gives their kind', () => {
    const odd = problems.filter(({ code, status, retryable }) => {
      if (status >= 500 && code !== 'INTERNAL_ERROR') return !retryable;
      if (status === 409) return retryable !== ['CONCURRENT_UPDATE', 'IDEMPOTENCY_IN_PROGRESS'].includes(code);
      return retryable !== [408, 429].includes(status);
    });
    expect(odd.map(({ code, status }) => `${code} ${status}`)).toEqual([]);
  });
});
