export interface Token {
  type: 'name' | 'keyword' | 'number' | 'string' | 'symbol' | 'end';
  text: string;
  value?: string | number;
  line: number;
}

const keywords = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
);

const patterns: [Token['type'] | 'blank', RegExp][] = [
  ['blank', /\s+|--\[\[[^]*?\]\]|--[^\n]*/y],
  ['number', /0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?/y],
  ['name', /[A-Za-z_]\w*/y],
  ['string', /"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'|\[\[[^]*?\]\]/y],
  ['symbol', /\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}[\];:,.]/y],
];

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', '0': '\0' };

/** Lua's words and signs. */
export function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let line = 1;
  while (at < source.length) {
    const found = match(source, at);
    if (!found) throw new SyntaxError(`Lua line ${line}: "${source.slice(at, at + 10)}" is not understood`);
    const [type, text] = found;
    if (type !== 'blank') tokens.push(tokenOf(type, text, line));
    line += text.split('\n').length - 1;
    at += text.length;
  }
  tokens.push({ type: 'end', text: 'end of script', line });
  return tokens;
}

function match(source: string, at: number): [Token['type'] | 'blank', string] | undefined {
  for (const [type, pattern] of patterns) {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined) return [type, text];
  }
  return undefined;
}

function tokenOf(type: Token['type'], text: string, line: number): Token {
  if (type === 'name' && keywords.has(text)) return { type: 'keyword', text, line };
  if (type === 'number') return { type, text, value: Number(text), line };
  if (type === 'string') return { type, text, value: stringOf(text), line };
  return { type, text, line };
}

function stringOf(text: string): string {
  if (text.startsWith('[[')) return text.slice(2, -2).replace(/^\n/, '');
  return text.slice(1, -1).replace(/\\([^])/g, (_all, char: string) => escapes[char] ?? char);
}
