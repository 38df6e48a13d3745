import { SignJWT } from 'jose';

export const jwtSecret = 'only-for-tests-0123456789-0123456789';
export const serviceToken = 'only-for-tests-service-token';

export interface TokenOptions {
  role?: 'admin';
  secret?: string;
  issuer?: string;
  audience?: string;
  /** Seconds from now; negative for a token that has expired. */
  expiresInSeconds?: number;
}

/** A bearer token as the apps under test take it, or with one thing wrong. */
export function tokenFor(sub: string, options: TokenOptions = {}): Promise<string> {
  const { role, secret = jwtSecret, issuer = 'firstcome', audience = 'firstcome', expiresInSeconds = 3600 } = options;
  return new SignJWT(role ? { role } : {})
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(sub)
    .setIssuer(issuer)
    .setAudience(audience)
    .setIssuedAt()
    .setExpirationTime(Math.floor(Date.now() / 1000) + expiresInSeconds)
    .sign(new TextEncoder().encode(secret));
}
