/** nil is undefined; numbers are doubles, as in the Lua 5.1 of Redis; strings are compared as JavaScript does: ASCII only. */
export type Value = undefined | boolean | number | string | Table | LuaFunction | Iterable<Value[]>;
/** Takes values and returns values, none or several. */
export type LuaFunction = (...args: Value[]) => Value[];

export class LuaError extends Error {}

export class Table {
  readonly list: Value[] = [];
  readonly rest = new Map<Value, Value>();

  static of(values: readonly Value[]): Table {
    const table = new Table();
    for (const [index, value] of values.entries()) table.set(index + 1, value);
    return table;
  }

  get(key: Value): Value {
    if (typeof key === 'number' && key >= 1 && key <= this.list.length) {
      return Number.isInteger(key) ? this.list[key - 1] : undefined;
    }
    return this.rest.get(key);
  }

  set(key: Value, value: Value): void {
    const { list, rest } = this;
    if (key === undefined) throw new LuaError('table index is nil');
    if (typeof key === 'number' && Number.isInteger(key) && key >= 1 && key <= list.length + 1) {
      if (value !== undefined) {
        list[key - 1] = value;
        for (let next = rest.get(list.length + 1); next !== undefined; next = rest.get(list.length + 1)) {
          rest.delete(list.length + 1);
          list.push(next);
        }
      } else if (key <= list.length) {
        for (const [index, moved] of list
          .splice(key - 1)
          .slice(1)
          .entries())
          rest.set(key + 1 + index, moved);
      }
    } else if (value === undefined) rest.delete(key);
    else rest.set(key, value);
  }

  get length(): number {
    return this.list.length;
  }
}

export function truthy(value: Value): boolean {
  return value !== undefined && value !== false;
}

export function typeOf(value: Value): string {
  if (value === undefined) return 'nil';
  if (value instanceof Table) return 'table';
  return typeof value;
}

export function toNumber(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (
    typeof value !== 'string' ||
    !/^\s*[-+]?(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?)\s*$/.test(value)
  ) {
    return undefined;
  }
  return Number(value);
}

/** Lua 5.1 prints with %.14g: a fence above 1e14 that passes through `..` or tostring() loses its last digits. */
export function textOfNumber(value: number, digits = 14): string {
  if (Object.is(value, -0)) return '-0';
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  if (Number.isSafeInteger(value) && Math.abs(value) < 10 ** digits) return String(value);
  const [mantissa, exponent] = roundedTo(digits, value).split('e') as [string, string];
  const power = Number(exponent);
  if (power < -5 || power >= digits) {
    return `${withoutZeros(mantissa)}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
  }
  const sign = value < 0 ? '-' : '';
  const all = mantissa.replace(/[-.]/g, '');
  if (power < 0) return sign + withoutZeros(`0.${'0'.repeat(-power - 1)}${all}`);
  return sign + withoutZeros(`${all.slice(0, power + 1)}.${all.slice(power + 1)}`);
}

function withoutZeros(text: string): string {
  return text.replace(/\.?0*$/, '');
}

/** As C rounds: what lies exactly between two goes to the even one, and not up as in JavaScript. */
function roundedTo(digits: number, value: number): string {
  const up = value.toExponential(digits - 1);
  const [exact = ''] = value.toExponential(100).split('e');
  const kept = exact.slice(0, exact.indexOf('.') + digits);
  const between = /^50*$/.test(exact.slice(kept.length));
  return between && Number(kept.at(-1)) % 2 === 0 ? `${kept}e${up.split('e')[1]}` : up;
}

export function toText(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return textOfNumber(value);
  if (value === undefined) return 'nil';
  if (typeof value === 'boolean') return String(value);
  return `${typeOf(value)}: 0x0`;
}
