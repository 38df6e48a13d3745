import { describe, expect, it } from 'vitest';
import { ownerOf, seatKey, sitterOf } from './seat.js';

describe('a seat', () => {
  it('has the name of the contract', () => {
    expect(seatKey({ couponId: 42, role: 'editor' })).toBe('desk:42:editor');
    expect(seatKey({ couponId: Number.MAX_SAFE_INTEGER, role: 'reviewer' })).toBe('desk:9007199254740991:reviewer');
  });

  it('is told from its token by one look, whatever the id of its user holds', () => {
    for (const userId of ['ann', 'auth0|ann', 'urn:user:7', ':', 'a\nb', 'ä🎁']) {
      const sitter = { userId, sessionId: '01980000-0000-7000-8000-000000000000' };
      expect(sitterOf(`${ownerOf(sitter)}:0123456789abcdef`)).toEqual(sitter);
    }
  });

  it('with a token of another make is taken all the same, and by no user of ours', () => {
    for (const token of ['foreign', 'a:b', '']) expect(sitterOf(token)).toEqual({ userId: token, sessionId: '' });
  });
});
