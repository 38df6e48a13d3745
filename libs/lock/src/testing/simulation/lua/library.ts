import { LuaError, Table, toNumber, toText, truthy, typeOf, type LuaFunction, type Value } from './values.js';

/** What compiled code calls for what JavaScript would do differently. */
export const operators = {
  Table,
  truthy,
  index(object: Value, key: Value): Value {
    if (object instanceof Table) return object.get(key);
    if (typeof object === 'string') return string.get(key);
    throw new LuaError(`attempt to index a ${typeOf(object)} value (${toText(key)})`);
  },
  store(object: Value, key: Value, value: Value): void {
    if (!(object instanceof Table)) throw new LuaError(`attempt to index a ${typeOf(object)} value`);
    object.set(key, value);
  },
  callable(callee: Value): LuaFunction {
    if (typeof callee !== 'function') throw new LuaError(`attempt to call a ${typeOf(callee)} value`);
    return callee;
  },
  method(object: Value, name: string, args: Value[]): Value[] {
    return operators.callable(operators.index(object, name))(object, ...args);
  },
  each(value: Value): Iterable<Value[]> {
    if (typeof value !== 'object' || value instanceof Table)
      throw new LuaError('only ipairs, pairs and gmatch iterate');
    return value;
  },
  list(values: Value[]): Table {
    return Table.of(values);
  },
  num(value: Value): number {
    const number = toNumber(value);
    if (number === undefined) throw new LuaError(`attempt to perform arithmetic on a ${typeOf(value)} value`);
    return number;
  },
  mod(left: Value, right: Value): number {
    const [a, b] = [operators.num(left), operators.num(right)];
    return a - Math.floor(a / b) * b;
  },
  concat(left: Value, right: Value): string {
    for (const side of [left, right]) {
      if (typeof side !== 'string' && typeof side !== 'number') {
        throw new LuaError(`attempt to concatenate a ${typeOf(side)} value`);
      }
    }
    return toText(left) + toText(right);
  },
  length(value: Value): number {
    if (typeof value === 'string' || value instanceof Table) return value.length;
    throw new LuaError(`attempt to get length of a ${typeOf(value)} value`);
  },
  less(left: Value, right: Value): boolean {
    if (typeof left === 'number' && typeof right === 'number') return left < right;
    if (typeof left === 'string' && typeof right === 'string') return left < right;
    throw new LuaError(`attempt to compare ${typeOf(left)} with ${typeOf(right)}`);
  },
  lessOrEqual(left: Value, right: Value): boolean {
    if (typeof left === 'number' && typeof right === 'number') return left <= right;
    if (typeof left === 'string' && typeof right === 'string') return left <= right;
    throw new LuaError(`attempt to compare ${typeOf(left)} with ${typeOf(right)}`);
  },
};

const num = (value: Value): number => operators.num(value);

/** %.0f, which rounds a half to the even side. */
function wholeOf(value: number): string {
  const whole = Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : value;
  return Object.is(whole, -0) ? '-0' : whole.toFixed(0);
}

const math = moduleOf({
  max: (...args) => [Math.max(...args.map(num))],
  min: (...args) => [Math.min(...args.map(num))],
  floor: (value) => [Math.floor(num(value))],
  ceil: (value) => [Math.ceil(num(value))],
  abs: (value) => [Math.abs(num(value))],
});

const string: Table = moduleOf({
  len: (text) => [toText(text).length],
  lower: (text) => [toText(text).toLowerCase()],
  upper: (text) => [toText(text).toUpperCase()],
  sub: (text, from, to) => {
    const whole = toText(text);
    const place = (at: number) => (at < 0 ? Math.max(whole.length + at + 1, 0) : at);
    return [whole.slice(Math.max(place(num(from)), 1) - 1, place(to === undefined ? -1 : num(to)))];
  },
  format: (format, ...args) => [
    toText(format).replace(/%(%|\.0f|d|s)/g, (_all, kind: string) => {
      if (kind === '%') return '%';
      const value = args.shift();
      if (kind === 's') return toText(value);
      // Above 2^63 the two would differ; fences end at 2^53.
      return kind === 'd' ? String(Math.trunc(num(value))) : wholeOf(num(value));
    }),
  ],
  find: (text, wanted, from, plain) => {
    const start = from === undefined ? 1 : num(from);
    const rest = toText(text).slice(start - 1);
    if (truthy(plain)) {
      const at = rest.indexOf(toText(wanted));
      return at < 0 ? [undefined] : [start + at, start + at + toText(wanted).length - 1];
    }
    const found = patternOf(toText(wanted)).exec(rest);
    if (!found) return [undefined];
    return [start + found.index, start + found.index + found[0].length - 1, ...found.slice(1)];
  },
  match: (text, wanted) => {
    const found = patternOf(toText(wanted)).exec(toText(text));
    if (!found) return [undefined];
    return found.length > 1 ? found.slice(1) : [found[0]];
  },
  gmatch: (text, wanted) => [
    Array.from(toText(text).matchAll(new RegExp(patternOf(toText(wanted)), 'gs')), (found) =>
      found.length > 1 ? found.slice(1) : [found[0]],
    ),
  ],
});

const table = moduleOf({
  insert: (list, ...args) => {
    if (!(list instanceof Table) || args.length !== 1) throw new LuaError('table.insert: only appending is supported');
    list.set(list.length + 1, args[0]);
    return [];
  },
  concat: (list, separator) => {
    if (!(list instanceof Table)) throw new LuaError('table.concat wants a table');
    return [list.list.map(toText).join(separator === undefined ? '' : toText(separator))];
  },
});

/** The globals that Redis gives to a script, as far as ours use them. */
export const globals: Record<string, Value> = {
  math,
  string,
  table,
  tonumber: (value) => [toNumber(value)],
  tostring: (value) => [toText(value)],
  type: (value) => [typeOf(value)],
  ipairs: (list) => [(list as Table).list.map((value, index): Value[] => [index + 1, value])],
  pairs: (list) => [
    [...(list as Table).list.map((value, index): Value[] => [index + 1, value]), ...(list as Table).rest],
  ],
  unpack: (list, from, to) => {
    const values = (list as Table).list;
    return values.slice((from === undefined ? 1 : num(from)) - 1, to === undefined ? values.length : num(to));
  },
  error: (message) => {
    throw new LuaError(toText(message));
  },
} satisfies Record<string, Value | LuaFunction>;

function moduleOf(functions: Record<string, LuaFunction>): Table {
  const result = new Table();
  for (const [name, value] of Object.entries(functions)) result.set(name, value);
  return result;
}

const classes: Record<string, string> = {
  a: 'A-Za-z',
  d: '\\d',
  l: 'a-z',
  u: 'A-Z',
  s: '\\s',
  w: 'A-Za-z0-9',
  x: '\\da-fA-F',
};
const compiled = new Map<string, RegExp>();

/** Lua's patterns without %b, %f and back references. */
function patternOf(pattern: string): RegExp {
  let regexp = compiled.get(pattern);
  if (regexp) return regexp;
  let inSet = false;
  const source = pattern.replace(/%(.)|[-\\{}|/$]|[[\]]/g, (text, escaped: string | undefined, at: number) => {
    if (escaped !== undefined) {
      const set = classes[escaped];
      if (set) return inSet ? set : `[${set}]`;
      if (/[A-Za-z0-9]/.test(escaped)) throw new LuaError(`the pattern item ${text} is not supported`);
      return `\\${escaped}`;
    }
    if (text === '[' || text === ']') {
      inSet = text === '[';
      return text;
    }
    if (text === '-') return inSet ? '-' : '*?';
    if (text === '$') return at === pattern.length - 1 ? '$' : '\\$';
    return `\\${text}`;
  });
  compiled.set(pattern, (regexp = new RegExp(source, 's')));
  return regexp;
}
