// The secrets of this checkout's system: made once, kept in .data/secrets, readable by their owner only.
// `node tools/secrets.mjs --compose` also writes the files that docker-compose.yml mounts.
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inData } from './paths.mjs';

export const ISSUER = 'firstcome';
export const AUDIENCE = 'firstcome';

/** Made at the first call; every later one, and one racing with it, reads the same value. */
export function secret(name) {
  const file = inData('secrets', name);
  mkdirSync(inData(), { recursive: true, mode: 0o711 });
  mkdirSync(inData('secrets'), { recursive: true, mode: 0o700 });
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(file, 'utf8').trim();
}

/** Compose mounts a secret with the rights it has on the host and the containers run as somebody else: the folder keeps others out. */
export function writeComposeSecrets() {
  const folder = inData('compose');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const password = secret('postgres-password');
  const files = {
    'postgres-password': password,
    'coupon-database-url': `postgres://postgres:${password}@postgres:5432/coupon`,
    'order-database-url': `postgres://postgres:${password}@postgres:5432/order`,
    'jwt-secret': secret('jwt-secret'),
    'service-token': secret('service-token'),
  };
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), value, { mode: 0o644 });
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv.includes('--compose')) {
  console.log(`wrote the secrets of docker-compose.yml to ${writeComposeSecrets()}`);
}
