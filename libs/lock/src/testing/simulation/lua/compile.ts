import { globals, operators } from './library.js';
import { tokensOf, type Token } from './tokens.js';
import type { Table, Value } from './values.js';

export interface ScriptGlobals {
  KEYS: Table;
  ARGV: Table;
  redis: Table;
}

/** Runs the script and returns what it returned, several values or none. */
export type CompiledScript = (given: ScriptGlobals) => Value[];

const binary: Record<string, { left: number; right: number; code(a: string, b: string): string }> = {
  or: op(1, (a, b) => `or(${a}, () => ${b})`),
  and: op(2, (a, b) => `and(${a}, () => ${b})`),
  '<': op(3, (a, b) => `less(${a}, ${b})`),
  '>': op(3, (a, b) => `less(${b}, ${a})`),
  '<=': op(3, (a, b) => `lessOrEqual(${a}, ${b})`),
  '>=': op(3, (a, b) => `lessOrEqual(${b}, ${a})`),
  '==': op(3, (a, b) => `(${a} === ${b})`),
  '~=': op(3, (a, b) => `(${a} !== ${b})`),
  '..': { left: 5, right: 4, code: (a, b) => `concat(${a}, ${b})` },
  '+': op(6, (a, b) => `(num(${a}) + num(${b}))`),
  '-': op(6, (a, b) => `(num(${a}) - num(${b}))`),
  '*': op(7, (a, b) => `(num(${a}) * num(${b}))`),
  '/': op(7, (a, b) => `(num(${a}) / num(${b}))`),
  '%': op(7, (a, b) => `mod(${a}, ${b})`),
};

function op(level: number, code: (a: string, b: string) => string) {
  return { left: level, right: level, code };
}

const logic = {
  and: (left: Value, right: () => Value): Value => (operators.truthy(left) ? right() : left),
  or: (left: Value, right: () => Value): Value => (operators.truthy(left) ? left : right()),
};

/** Lua 5.1 to JavaScript: as much of it as a Redis script needs, and an error for the rest. Fast enough for a simulation. */
export function compileLua(source: string): CompiledScript {
  const body = new Compiler(tokensOf(source)).chunk();
  const helpers = { ...operators, ...logic };
  const names = Object.keys(helpers).join(', ');
  const library = Object.keys(globals).map((name) => `g_${name}`);
  // oxlint-disable-next-line typescript/no-implied-eval -- compiling is the point; the sources are the library's own scripts
  const make = new Function(
    'helpers',
    'globals',
    `'use strict';
    const { ${names} } = helpers;
    const [${library.join(', ')}] = Object.values(globals);
    return ({ KEYS: g_KEYS, ARGV: g_ARGV, redis: g_redis }) => {${body} return []; };`,
  ) as (helpers: unknown, globals: unknown) => CompiledScript;
  return make(helpers, globals);
}

class Compiler {
  #at = 0;
  #names = 0;
  readonly #scopes: Map<string, string>[] = [];

  constructor(private readonly tokens: readonly Token[]) {}

  chunk(): string {
    const code = this.#block();
    if (this.#next.type !== 'end') throw this.#unexpected();
    return code;
  }

  get #next(): Token {
    return this.tokens[this.#at]!;
  }

  #take(): Token {
    this.#at += 1;
    return this.tokens[this.#at - 1]!;
  }

  #accept(text: string): boolean {
    const { type } = this.#next;
    if (this.#next.text !== text || (type !== 'keyword' && type !== 'symbol')) return false;
    this.#at += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw this.#unexpected(text);
  }

  #name(): string {
    if (this.#next.type !== 'name') throw this.#unexpected('a name');
    return this.#take().text;
  }

  #unexpected(wanted = 'something this compiler knows'): SyntaxError {
    return new SyntaxError(`Lua line ${this.#next.line}: "${this.#next.text}" instead of ${wanted}`);
  }

  #declare(name: string): string {
    this.#names += 1;
    const unique = `l${this.#names}_${name}`;
    this.#scopes.at(-1)!.set(name, unique);
    return unique;
  }

  #resolve(name: string): string {
    for (const scope of this.#scopes.toReversed()) {
      const unique = scope.get(name);
      if (unique) return unique;
    }
    if (name in globals || name === 'KEYS' || name === 'ARGV' || name === 'redis') return `g_${name}`;
    throw new SyntaxError(`Lua line ${this.#next.line}: the global "${name}" is not known`);
  }

  /** Up to `end`, `else`, `elseif` or `until`; `names` are declared inside. */
  #block(declare?: () => string): string {
    this.#scopes.push(new Map());
    let code = declare?.() ?? '';
    while (this.#next.type !== 'end' && !['end', 'else', 'elseif', 'until'].includes(this.#next.text)) {
      code += `${this.#statement()}\n`;
      this.#accept(';');
    }
    this.#scopes.pop();
    return code;
  }

  #statement(): string {
    if (this.#accept('local')) return this.#local();
    if (this.#accept('if')) return this.#if();
    if (this.#accept('for')) return this.#for();
    if (this.#accept('while')) {
      const condition = this.#expression();
      this.#expect('do');
      return `while (truthy(${condition})) {${this.#blockToEnd()}}`;
    }
    if (this.#accept('do')) return `{${this.#blockToEnd()}}`;
    if (this.#accept('break')) return 'break;';
    if (this.#accept('return')) {
      const ends = this.#next.type === 'end' || ['end', 'else', 'elseif', ';'].includes(this.#next.text);
      return `return [${ends ? '' : this.#expressions()}];`;
    }
    return this.#assignmentOrCall();
  }

  #local(): string {
    if (this.#accept('function')) {
      const unique = this.#declare(this.#name());
      return `const ${unique} = ${this.#function()};`;
    }
    const names = [this.#name()];
    while (this.#accept(',')) names.push(this.#name());
    if (!this.#accept('=')) return names.map((name) => `let ${this.#declare(name)};`).join(' ');
    if (names.length === 1) {
      // Destructuring goes through an iterator: ten times the price in the hottest line of a simulation.
      const [value] = this.#expressionList();
      return `let ${this.#declare(names[0]!)} = ${value};`;
    }
    const values = this.#expressions();
    const uniques = names.map((name) => this.#declare(name));
    return `let [${uniques.join(', ')}] = [${values}];`;
  }

  #if(): string {
    const condition = this.#expression();
    this.#expect('then');
    const code = `if (truthy(${condition})) {${this.#block()}}`;
    if (this.#accept('elseif')) return `${code} else ${this.#if()}`;
    if (this.#accept('else')) return `${code} else {${this.#blockToEnd()}}`;
    this.#expect('end');
    return code;
  }

  #for(): string {
    const names = [this.#name()];
    if (this.#accept('=')) {
      const from = this.#expression();
      this.#expect(',');
      const to = this.#expression();
      const step = this.#accept(',') ? this.#expression() : '1';
      this.#expect('do');
      const body = this.#blockToEnd(() => `let ${this.#declare(names[0]!)} = i;`);
      return `for (let i = num(${from}), to = num(${to}), by = num(${step}); by > 0 ? i <= to : i >= to; i += by) {${body}}`;
    }
    while (this.#accept(',')) names.push(this.#name());
    this.#expect('in');
    const over = this.#expression();
    this.#expect('do');
    const body = this.#blockToEnd(() =>
      names.map((name, index) => `let ${this.#declare(name)} = each1[${index}];`).join(' '),
    );
    return `for (const each1 of each(${over})) {${body}}`;
  }

  #blockToEnd(declare?: () => string): string {
    const code = this.#block(declare);
    this.#expect('end');
    return code;
  }

  #function(): string {
    const names: string[] = [];
    this.#expect('(');
    while (!this.#accept(')')) {
      names.push(this.#name());
      if (this.#next.text !== ')') this.#expect(',');
    }
    let parameters = '';
    const body = this.#blockToEnd(() => {
      parameters = names.map((name) => this.#declare(name)).join(', ');
      return '';
    });
    return `((${parameters}) => {${body} return [];})`;
  }

  #assignmentOrCall(): string {
    const target = this.#suffixed();
    if (target.multi) return `${target.multi};`;
    if (this.#next.text === ',') throw this.#unexpected('a single assignment');
    this.#expect('=');
    const value = this.#expression();
    return target.object ? `store(${target.object}, ${target.key}, ${value});` : `${target.code} = ${value};`;
  }

  /** A list of values: of the last one, if it is a call, all results. */
  #expressions(): string {
    const codes: string[] = [];
    for (;;) {
      const start = this.#at;
      const code = this.#expression();
      if (this.#accept(',')) {
        codes.push(code);
        continue;
      }
      const end = this.#at;
      this.#at = start;
      const multi = this.#isPrefix() ? this.#suffixed().multi : undefined;
      const whole = multi !== undefined && this.#at === end;
      this.#at = end;
      codes.push(whole ? `...${multi}` : code);
      return codes.join(', ');
    }
  }

  #expressionList(): string[] {
    const codes = [this.#expression()];
    while (this.#accept(',')) codes.push(this.#expression());
    return codes;
  }

  #expression(limit = 0): string {
    let left = this.#unary();
    for (;;) {
      const { type, text } = this.#next;
      const operator = type === 'symbol' || type === 'keyword' ? binary[text] : undefined;
      if (!operator || operator.left <= limit) return left;
      this.#take();
      left = operator.code(left, this.#expression(operator.right));
    }
  }

  #unary(): string {
    const unaryLevel = 8;
    if (this.#accept('not')) return `!truthy(${this.#expression(unaryLevel)})`;
    if (this.#accept('#')) return `length(${this.#expression(unaryLevel)})`;
    if (this.#accept('-')) return `(-num(${this.#expression(unaryLevel)}))`;
    if (this.#isPrefix()) return this.#suffixed().code;
    if (this.#next.text === '{') return this.#table();
    if (this.#accept('function')) return this.#function();
    const { type, text, value } = this.#take();
    if (type === 'number' || type === 'string') return JSON.stringify(value);
    if (text === 'nil') return 'undefined';
    if (text === 'true' || text === 'false') return text;
    this.#at -= 1;
    throw this.#unexpected();
  }

  #isPrefix(): boolean {
    return this.#next.type === 'name' || (this.#next.type === 'symbol' && this.#next.text === '(');
  }

  #suffixed(): { code: string; object?: string; key?: string; multi?: string } {
    let code: string;
    if (this.#accept('(')) {
      code = `(${this.#expression()})`;
      this.#expect(')');
    } else code = this.#resolve(this.#name());
    let result: ReturnType<typeof this.prefix> = { code };
    for (;;) {
      if (this.#accept('.')) result = this.prefix(result.code, JSON.stringify(this.#name()));
      else if (this.#accept('[')) {
        result = this.prefix(result.code, this.#expression());
        this.#expect(']');
      } else if (this.#accept(':')) {
        const name = JSON.stringify(this.#name());
        result = called(`method(${result.code}, ${name}, [${this.#arguments()}])`);
      } else if (this.#next.type === 'symbol' && this.#next.text === '(') {
        result = called(`callable(${result.code})(${this.#arguments()})`);
      } else return result;
    }
  }

  private prefix(object: string, key: string): { code: string; object?: string; key?: string; multi?: string } {
    return { code: `index(${object}, ${key})`, object, key };
  }

  #arguments(): string {
    this.#expect('(');
    if (this.#accept(')')) return '';
    const codes = this.#expressions();
    this.#expect(')');
    return codes;
  }

  #table(): string {
    this.#expect('{');
    const fields: string[] = [];
    let values = '';
    while (!this.#accept('}')) {
      if (this.#next.type === 'name' && this.tokens[this.#at + 1]?.text === '=') {
        const name = JSON.stringify(this.#name());
        this.#expect('=');
        fields.push(`store(table, ${name}, ${this.#expression()});`);
        if (!this.#accept(',')) this.#accept(';');
      } else {
        values = this.#listItems();
      }
    }
    if (fields.length === 0) return `list([${values}])`;
    return `(() => { const table = list([${values}]); ${fields.join(' ')} return table; })()`;
  }

  /** Positional fields, to the closing brace. */
  #listItems(): string {
    const codes: string[] = [];
    while (this.#next.text !== '}') {
      const start = this.#at;
      const code = this.#expression();
      if (this.#accept(',')) {
        codes.push(code);
        continue;
      }
      this.#at = start;
      codes.push(this.#expressions());
    }
    return codes.join(', ');
  }
}

function called(multi: string): { code: string; multi: string } {
  return { code: `${multi}[0]`, multi };
}
