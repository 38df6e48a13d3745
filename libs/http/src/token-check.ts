import { webcrypto } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyOptions,
} from 'jose';
import type { AuthOptions } from './auth.js';
import { httpErrors } from './http.errors.js';

/** What a good token says; undefined for any other. Throws where nobody can know. */
export type TokenCheck = (token: string) => Promise<JWTPayload | undefined>;

const fetchDeadlineMs = 2_000;
/** So long after a fetch an unknown key is unknown: made-up key ids do not become requests. */
const coolDownMs = 10_000;
/** So long after a fetch that failed no other is tried: a key server in trouble is not stormed. */
const restMs = 1_000;
const keysKeptMs = 600_000;

// No symmetric one: with HS256 anybody could sign with the public key.
const publicKeyAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'];

/** Of jose, where the key server is at fault and not the token. */
const keyServerFailed = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']);

export function tokenCheck({ secret, jwksUrl, issuer, audience }: AuthOptions): TokenCheck {
  const claims = { issuer, audience, requiredClaims: ['sub', 'exp'] };
  if (secret !== undefined) return checkBySecret(secret, { ...claims, algorithms: ['HS256'] });
  if (jwksUrl !== undefined) return checkByKeyServer(jwksUrl, { ...claims, algorithms: publicKeyAlgorithms });
  throw new Error('Set JWT_SECRET or JWT_JWKS_URL: without either no token could be believed.');
}

function checkBySecret(secret: string, options: JWTVerifyOptions): TokenCheck {
  // Imported once. jose imports any other kind of secret for each token, which is half of a verification.
  const hs256 = { name: 'HMAC', hash: 'SHA-256' };
  const key = webcrypto.subtle.importKey('raw', Buffer.from(secret), hs256, false, ['verify']);
  return async (token) => {
    const imported = await key;
    return jwtVerify(token, imported, options).then(
      ({ payload }) => payload,
      () => undefined,
    );
  };
}

function checkByKeyServer(url: string, options: JWTVerifyOptions): TokenCheck {
  const keys = createRemoteJWKSet(new URL(url), {
    timeoutDuration: fetchDeadlineMs,
    cooldownDuration: coolDownMs,
    cacheMaxAge: keysKeptMs,
    [customFetch]: restrainedFetch(),
  });
  return async (token) => {
    try {
      return (await jwtVerify(token, keys, options)).payload;
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return checkWithEach(error, token, options);
      if (error instanceof errors.JOSEError && !keyServerFailed.has(error.code)) return undefined;
      throw httpErrors.UPSTREAM_UNAVAILABLE({ cause: error });
    }
  };
}

/** A token that names no key, where several may have signed it. */
async function checkWithEach(
  keys: AsyncIterable<webcrypto.CryptoKey>,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTPayload | undefined> {
  for await (const key of keys) {
    const payload = await jwtVerify(token, key, options).then(
      (result) => result.payload,
      () => undefined,
    );
    if (payload) return payload;
  }
  return undefined;
}

function restrainedFetch(): FetchImplementation {
  let restsUntil = 0;
  return async (url, options) => {
    if (Date.now() < restsUntil) throw new Error('The key server failed a moment ago.');
    try {
      const response = await fetch(url, options);
      if (response.status !== 200) throw new Error(`The key server answered ${response.status}.`);
      return response;
    } catch (error) {
      restsUntil = Date.now() + restMs;
      throw error;
    }
  };
}
