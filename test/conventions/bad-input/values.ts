import { casesOn } from './case.js';
import type { Case, Service } from './case.js';

/** JSON values, as they are written, that a field of each kind may not hold. */
export const notWhole = ['-1', '1.5', '"1"', 'true', 'null', '{}', '[1]', '1e400', '9007199254740993'];
export const notPositive = ['0', ...notWhole];
export const notText = ['""', '"   "', '1', 'null', '["x"]', '{"toString":"x"}', long('x'), long('😀')];
export const notTime = [
  '2026-02-30T00:00:00Z 2026-13-01T00:00:00Z 0000-01-01T00:00:00Z +012026-01-01T00:00:00Z'.split(' '),
  '2026-01-01 2026-01-01T00:00:00 2026-01-01T00:00:00+09:00 tomorrow '.split(' '),
]
  .flat()
  .map((text) => JSON.stringify(text));

function long(character: string): string {
  return JSON.stringify(character.repeat(101));
}

/** A body with `@` where the field under test stands, and what is put there. */
export function putInto(service: Service, path: string, as: 'user' | 'admin' | 'service') {
  const wrong = casesOn(service, path, { as });
  return (body: string, values: string[]): Case[] =>
    values.map((value) =>
      wrong(`${path} ${body.replace('@', value.slice(0, 60))}`, '400 VALIDATION_FAILED', {
        raw: body.replace('@', value),
      }),
    );
}

/** Two headers of one name are two elements. */
const badKeys: [name: string, key: string | string[]][] = [
  ['empty', ''],
  ['of 256 characters', 'k'.repeat(256)],
  ['with a blank inside', 'a b'],
  ['outside ASCII', 'kéy'],
  ['sent twice', ['a', 'b']],
  ['sent twice, the same', ['a', 'a']],
];

export function idempotencyKeys(service: Service, path: string, sent: Partial<Case>): Case[] {
  const wrong = casesOn(service, path, { ...sent, key: undefined });
  return badKeys.map(([name, key]) =>
    wrong(`${path}: an Idempotency-Key ${name}`, '400 IDEMPOTENCY_KEY_INVALID', {
      headers: { 'idempotency-key': key },
    }),
  );
}
