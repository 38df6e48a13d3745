// Signs bearer tokens (HS256) as the apps check them.
import { createHmac } from 'node:crypto';
import { AUDIENCE, ISSUER, secret } from './secrets.mjs';

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

export function signToken(
  { sub, role, hours = 24 },
  key = secret('jwt-secret'),
  nowSeconds = Math.floor(Date.now() / 1000),
) {
  const claims = {
    sub,
    ...(role && { role }),
    iss: ISSUER,
    aud: AUDIENCE,
    iat: nowSeconds,
    exp: nowSeconds + hours * 3600,
  };
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${content}.${createHmac('sha256', key).update(content).digest('base64url')}`;
}
