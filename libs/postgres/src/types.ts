import { types, type CustomTypesConfig } from 'pg';

const DATE = 1082;
const INT8 = 20;
const INT8_ARRAY = 1016;

/** int8 as a number that is exact or an error, its arrays too; a date as it is written. The rest as pg reads it. */
export const typeParsers: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return safeInteger;
    if (oid === INT8_ARRAY) return safeIntegers;
    if (oid === DATE) return (text: string) => text;
    return types.getTypeParser(oid, format);
  }) as CustomTypesConfig['getTypeParser'],
};

export function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${text} does not fit into a number: cast it to text.`);
  return value;
}

function safeIntegers(text: string): (number | null)[] {
  const inner = text.slice(1, -1);
  if (inner === '') return [];
  return inner.split(',').map((item) => (item === 'NULL' ? null : safeInteger(item)));
}
