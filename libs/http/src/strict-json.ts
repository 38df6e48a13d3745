import { httpErrors } from './http.errors.js';
import type { ProblemError } from './problem.js';

const MAX_DEPTH = 10;
const MAX_ITEMS = 50;

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const BACKSLASH = 92;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

// A byte order mark stays in the text, where the JSON parser refuses it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads one JSON object, and nothing that another reader could understand otherwise: no key twice, no key of every
 * object's prototype, no number or text that changes on its way to the database, nothing deeper or longer than agreed.
 * `JSON.parse` decides what is JSON; one pass over the text, now known to be well-formed, decides the rest.
 */
export function parseStrictJson(bytes: Buffer): Record<string, unknown> {
  const text = decode(bytes);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw malformed('The body must be a JSON object, not an array, a string, a number or null.');
  }
  scan(text);
  return value as Record<string, unknown>;
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed('The body is not valid UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not the parser's message: it quotes the body.
    throw malformed('The body is not valid JSON.');
  }
}

/** What is open at a depth: the keys of an object so far, or the number of items of an array. */
interface Container {
  keys: string[] | undefined;
  items: number;
}

function scan(text: string): void {
  const open: Container[] = [];
  // Most bodies have none; then a text ends at the next quote.
  const escapes = text.includes('\\');
  let inside: Container = { keys: undefined, items: 0 };
  let index = 0;
  while (index < text.length) {
    const char = text.charCodeAt(index);
    if (char === QUOTE) {
      const end = escapes ? endOfString(text, index) : text.indexOf('"', index + 1) + 1;
      if (inside.keys && isKey(text, end)) addKey(inside.keys, text.slice(index, end));
      index = end;
    } else if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      // Validators take [[]] for [] and look no further, and nothing here is a list of lists.
      if (char === OPEN_ARRAY && open.length > 0 && !inside.keys)
        throw invalid('An array stands directly in an array.');
      if (open.length === MAX_DEPTH) throw invalid(`The body is nested deeper than ${MAX_DEPTH} levels.`);
      open.push(inside);
      inside = { keys: char === OPEN_OBJECT ? [] : undefined, items: 1 };
      index += 1;
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      inside = open.pop()!;
      index += 1;
    } else if (char === COMMA) {
      inside.items += 1;
      if (inside.items > MAX_ITEMS) throw invalid(`An array or object holds more than ${MAX_ITEMS} items.`);
      index += 1;
    } else if (char === 45 || (char >= 48 && char <= 57)) {
      const end = endOfNumber(text, index);
      checkNumber(text.slice(index, end));
      index = end;
    } else {
      index += 1;
    }
  }
}

/** The index after the closing quote. On the way: no escaped NUL and no escaped half of a surrogate pair. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    const char = text.charCodeAt(index);
    if (char === QUOTE) return index + 1;
    if (char !== BACKSLASH) index += 1;
    else if (text.charCodeAt(index + 1) === 117) index = endOfUnicodeEscape(text, index);
    else index += 2;
  }
}

function endOfUnicodeEscape(text: string, start: number): number {
  const unit = Number.parseInt(text.slice(start + 2, start + 6), 16);
  if (unit === 0) throw invalid('A text holds the character NUL (\\u0000), which cannot be stored.');
  if (unit < 0xd800 || unit > 0xdfff) return start + 6;
  const paired = unit < 0xdc00 && /^\\u[dD][c-fC-F]/.test(text.slice(start + 6, start + 10));
  if (!paired) throw invalid('A text holds half of a surrogate pair, which is no character.');
  return start + 12;
}

/** In well-formed JSON a string is a key exactly when a colon follows. */
function isKey(text: string, end: number): boolean {
  let index = end;
  while (text.charCodeAt(index) <= 32) index += 1;
  return text.charCodeAt(index) === COLON;
}

function addKey(keys: string[], quoted: string): void {
  const key = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  // At most 50 of them: faster than a Set.
  if (keys.includes(key)) throw malformed('A key occurs twice in one object.');
  // __proto__ and constructor poison what they are merged into; toString and the like are skipped by class-transformer,
  // so that an unknown field would pass for absent.
  if (key in Object.prototype) throw invalid('A key has the name of a member of every object, such as __proto__.');
  keys.push(key);
}

function endOfNumber(text: string, start: number): number {
  let index = start + 1;
  for (;;) {
    const char = text.charCodeAt(index);
    const digit = char >= 48 && char <= 57;
    // + - . E e
    if (!digit && char !== 43 && char !== 45 && char !== 46 && char !== 69 && char !== 101) return index;
    index += 1;
  }
}

/** An integer written so that it stays the integer it was: no rounding, no overflow, no underflow to 0. */
const EXACT_INTEGER = /^-?\d+(\.0+)?([eE]\+?\d+)?$/;

function checkNumber(token: string): void {
  const value = Number(token);
  const exact = Number.isInteger(value) ? EXACT_INTEGER.test(token) && !Object.is(value, -0) : Number.isFinite(value);
  if (!exact || Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    throw invalid('A number is outside of ±9007199254740991 or would be rounded.');
  }
}

function malformed(detail: string): ProblemError {
  return httpErrors.MALFORMED_JSON({ detail });
}

function invalid(message: string): ProblemError {
  return httpErrors.VALIDATION_FAILED({ errors: [{ pointer: '', code: 'INVALID', message }] });
}
