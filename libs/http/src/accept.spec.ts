import { describe, expect, it } from 'vitest';
import { accepts } from './accept.js';

describe('Accept', () => {
  it.each([
    undefined,
    '',
    '*/*',
    'application/*',
    'application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-8',
    'text/html, application/json;q=0.1',
    'text/html,*/*;q=0.8',
    '*/*;q=0, application/json',
    'application/*;q=0, application/json;q=1',
  ])('%j admits JSON', (header) => expect(accepts(header)).toBe(true));

  it.each([
    'text/html',
    'text/*',
    'image/png',
    'application/json;q=0',
    '*/*;q=0',
    '*/*, application/json;q=0.0',
    'json',
    ';',
  ])('%j does not', (header) => expect(accepts(header)).toBe(false));
});
