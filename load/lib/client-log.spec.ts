import { describe, expect, it } from 'vitest';
import { parseClientLog } from './client-log.js';

const line = JSON.stringify({ phase: 'burst', request: 'issue', at: 1, ms: 2, user: 'u', outcome: 'acknowledged' });

describe('the client log', () => {
  it('is one record per line', () => {
    expect(parseClientLog(`${line}\n${line}\n`)).toHaveLength(2);
    expect(parseClientLog('')).toEqual([]);
  });

  it('is refused when a line was cut or is something else: a log that lost a request proves nothing', () => {
    expect(() => parseClientLog(`${line}\n${line.slice(0, 30)}`)).toThrow('Line 2');
    expect(() => parseClientLog('null')).toThrow('Line 1');
    expect(() => parseClientLog('{"at":"now","outcome":"acknowledged"}')).toThrow('Line 1');
  });
});
