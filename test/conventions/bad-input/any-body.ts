import { casesOn, targets } from './case.js';
import type { Case, Service } from './case.js';

// What no body may be, on any route that takes one.
export function anyBody(service: Service): Case[] {
  const { path, as, good } = targets[service];
  const text = JSON.stringify(good);
  const inside = text.slice(1, -1);
  const wrong = casesOn(service, path, { as });
  const json = (name: string, raw: string | Buffer) => wrong(name, '400 MALFORMED_JSON', { raw });
  const value = (name: string, raw: string) => wrong(name, '400 VALIDATION_FAILED', { raw });
  const bytes = (...middle: number[]) =>
    Buffer.concat([Buffer.from('{"name":"'), Buffer.from(middle), Buffer.from('"}')]);
  const headers = (name: string, sent: Case['headers']) =>
    wrong(name, '415 UNSUPPORTED_MEDIA_TYPE', { raw: text, headers: sent });
  const ofType = (type: string) => headers(`the media type ${type}`, { 'content-type': type });
  return [
    json('half an object', text.slice(0, -1)),
    json('two objects', `${text}${text}`),
    json('a trailing comma', `{${inside},}`),
    json('a comment', `{/* */${inside}}`),
    json('single quotes', `{'name':'x'}`),
    json('NaN', `{${inside},"x":NaN}`),
    json('a byte order mark', `\uFEFF${text}`),
    json('null at the top', 'null'),
    json('a string at the top', '"text"'),
    json('a number at the top', '42'),
    json('an array at the top', `[${text}]`),
    json('an empty array at the top', '[]'),
    json('only blanks', '   '),
    wrong('an empty body where one is due', '400 MALFORMED_JSON'),
    json('bytes that are not UTF-8', bytes(0xc3, 0x28)),
    json('an overlong encoding', bytes(0xc0, 0x80)),
    json('an encoded surrogate', bytes(0xed, 0xa0, 0x80)),
    json('one key twice', `{${inside},${inside}}`),
    json('one key twice, once escaped', `{"x":1,"\\u0078":1,${inside}}`),
    value('__proto__', `{${inside},"__proto__":{"admin":true}}`),
    value('__proto__, escaped', `{${inside},"__prot\\u006f__":{"admin":true}}`),
    value('constructor.prototype', `{${inside},"constructor":{"prototype":{"admin":true}}}`),
    value('nesting 11', `{${inside},"x":${'['.repeat(10)}${']'.repeat(10)}}`),
    value('nesting 5 000', `{${inside},"x":${'['.repeat(5000)}${']'.repeat(5000)}}`),
    value('NUL in a value', `{${inside},"x":"a\\u0000b"}`),
    value('NUL in a key', `{${inside},"a\\u0000b":1}`),
    value('half a surrogate pair', `{${inside},"x":"\\ud800"}`),
    value('a surrogate pair the wrong way round', `{${inside},"x":"\\udc00\\ud800"}`),
    value('an integer beyond 2^53-1', `{${inside},"x":9007199254740993}`),
    value('1e400', `{${inside},"x":1e400}`),
    wrong('a body over 32 kB', '413 PAYLOAD_TOO_LARGE', { raw: `{${inside},"x":"${'x'.repeat(33_000)}"}` }),
    ofType('text/plain'),
    ofType('application/x-www-form-urlencoded'),
    ofType('multipart/form-data; boundary=x'),
    ofType('application/xml'),
    ofType('application/jsonp'),
    ofType('application/json; charset=iso-8859-1'),
    ofType('application/json; charset=utf-16'),
    headers('no media type', { 'content-type': undefined }),
    headers('the content-encoding gzip', { 'content-encoding': 'gzip' }),
    headers('the content-encoding identity', { 'content-encoding': 'identity' }),
  ];
}
