import { expect, it } from 'vitest';
import { sql } from './statement.js';

it('one name never stands for two texts: node-postgres would refuse the second on every connection that has seen the first', () => {
  const first = sql('statement-spec', 'select 1');
  expect(sql('statement-spec', 'select 1')).toEqual(first);
  expect(() => sql('statement-spec', 'select 2')).toThrow('"statement-spec"');
});
