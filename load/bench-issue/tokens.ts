import { createHmac } from 'node:crypto';
import { jwtSecret } from './system.js';

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A bearer token as the app takes it, for an hour. */
export function tokenFor(sub: string, role?: 'admin'): string {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub, role, iss: 'firstcome', aud: 'firstcome', exp })}`;
  return `${content}.${createHmac('sha256', jwtSecret).update(content).digest('base64url')}`;
}
