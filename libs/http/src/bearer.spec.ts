import { describe, expect, it } from 'vitest';
import { bearerToken, socketToken } from './bearer.js';

const offered = (protocols: string) => socketToken({ 'sec-websocket-protocol': protocols });

describe('the token of a request', () => {
  it('stands in Authorization, whatever the case of the scheme, and nowhere else', () => {
    expect(bearerToken({ authorization: 'Bearer a.b-c_d' })).toBe('a.b-c_d');
    expect(bearerToken({ authorization: 'bEARER a' })).toBe('a');
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic a', 'Bearer a b', 'xBearer a']) {
      expect(bearerToken({ authorization })).toBeUndefined();
    }
    expect(bearerToken({ 'sec-websocket-protocol': 'bearer, a' })).toBeUndefined();
  });
});

describe('the token of a WebSocket', () => {
  it('stands in Authorization, or second after the subprotocol bearer', () => {
    expect(socketToken({ authorization: 'Bearer a' })).toBe('a');
    for (const protocols of ['bearer, a.b.c', 'bearer,a.b.c', ' bearer ,  a.b.c '])
      expect(offered(protocols)).toBe('a.b.c');
    for (const protocols of [
      '',
      'bearer',
      'bearer,',
      'a.b.c',
      'a.b.c, bearer',
      'bearer, a, b',
      'Bearer, a',
      'token, a',
    ]) {
      expect(offered(protocols)).toBeUndefined();
    }
  });

  it('of Authorization decides where both are there: a wrong one is not made good by the other', () => {
    expect(socketToken({ authorization: 'Basic x', 'sec-websocket-protocol': 'bearer, a' })).toBeUndefined();
  });
});
