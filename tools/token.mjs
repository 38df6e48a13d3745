// npm run token -- --sub alice [--sub bob …] [--role admin]: one bare token per line, in that order, valid 24 h.
import { parseArgs } from 'node:util';
import { readRunning } from './runs.mjs';
import { signToken } from './tokens.mjs';

const usage = 'usage: npm run token -- --sub alice [--sub bob ...] [--role admin]';

function main() {
  let values;
  try {
    ({ values } = parseArgs({ options: { sub: { type: 'string', multiple: true }, role: { type: 'string' } } }));
  } catch (error) {
    throw new TypeError(`${error.message}\n${usage}`, { cause: error });
  }
  if (!values.sub?.length || values.sub.some((sub) => sub === '')) throw new TypeError(`--sub is missing\n${usage}`);
  if (values.role !== undefined && values.role !== 'admin') throw new TypeError(`the only role is admin\n${usage}`);
  if (!readRunning()?.ready) console.error('npm start is not running here: the tokens are good for when it is.');
  for (const sub of values.sub) console.log(signToken({ sub, role: values.role }));
}

try {
  main();
} catch (error) {
  console.error(error instanceof TypeError ? error.message : error);
  process.exitCode = 1;
}
