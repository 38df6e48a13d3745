// Where things lie: the checkout, its .data folder, and what is kept in it.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const inRoot = (...parts) => join(root, ...parts);
export const inData = (...parts) => join(root, '.data', ...parts);

export const runningFile = inData('running.json');
export const startFile = inData('runs', 'start.json');
