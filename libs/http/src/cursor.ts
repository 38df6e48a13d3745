import { httpErrors } from './http.errors.js';
import { parseUuid } from './path-params.js';

export type CursorPart = 'int' | 'uuid' | 'date';
type CursorValue<Part> = Part extends 'int' ? number : string;
export type CursorValues<Shape extends readonly CursorPart[]> = { [Index in keyof Shape]: CursorValue<Shape[Index]> };

const MAX_LENGTH = 512;

/** Where the next page starts: opaque to clients, free to change. Not signed: it only ever narrows a user's own list. */
export function encodeCursor(values: (string | number)[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** Takes exactly what `encodeCursor` makes for this shape; anything else is 400. */
export function decodeCursor<const Shape extends readonly CursorPart[]>(
  cursor: string,
  shape: Shape,
): CursorValues<Shape> {
  const values = cursor.length <= MAX_LENGTH ? parse(cursor) : undefined;
  const fits = values?.length === shape.length && shape.every((part, index) => isPart(part, values[index]));
  if (!fits || encodeCursor(values as (string | number)[]) !== cursor) throw forged();
  return values as unknown as CursorValues<Shape>;
}

function parse(cursor: string): unknown[] | undefined {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined;
  }
}

function isPart(part: CursorPart, value: unknown): boolean {
  if (part === 'int') return Number.isSafeInteger(value) && !Object.is(value, -0);
  if (typeof value !== 'string') return false;
  if (part === 'uuid') return parseUuid(value) !== undefined;
  const time = Date.parse(value);
  return !Number.isNaN(time) && new Date(time).toISOString() === value;
}

function forged() {
  const message = 'must be the nextCursor of the page before';
  return httpErrors.VALIDATION_FAILED({ errors: [{ pointer: '/query/cursor', code: 'INVALID', message }] });
}
