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
export function textOfNumber(value: number): string {
  if (Object.is(value, -0)) return '-0';
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const [digits, exponent] = value.toExponential(13).split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -5 && power < 14) return String(Number(value.toPrecision(14)));
  const sign = power < 0 ? '-' : '+';
  return `${Number(digits)}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

export function toText(value: Value): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return textOfNumber(value);
  if (value === undefined) return 'nil';
  if (typeof value === 'boolean') return String(value);
  return `${typeOf(value)}: 0x0`;
}
