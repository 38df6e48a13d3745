import { isIP } from 'node:net';
import { z } from 'zod';

// The kinds of variables that the apps have. Each message is read after the variable's name: "PORT must be …".

/** A whole number with its default and its bounds. */
export const whole = (fallback: number, min: number, max: number) =>
  z
    .string()
    .default(String(fallback))
    .refine((text) => /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);

/** How many times as much as usual: 1 by default. */
export const times = (min: number, max: number) =>
  z
    .string()
    .default('1')
    .refine((text) => /^\d{1,6}(\.\d{1,6})?$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a number from ${min} to ${max}`,
    })
    .transform(Number);

/** One of a few words, the first of them by default. */
export const oneOf = (...words: [string, ...string[]]) =>
  z
    .string()
    .default(words[0])
    .refine((text) => words.includes(text), { error: `must be one of ${words.join(', ')}` });

export const url = (missing: string, ...schemes: string[]) =>
  z.string({ error: `is missing: ${missing}` }).refine((text) => isUrl(text, schemes), {
    error: `must be a URL that begins with ${schemes.map((s) => `${s}://`).join(' or ')}`,
  });

export const secret = (what: string, minLength: number) =>
  z
    .string({ error: `is missing: set it to ${what}, at least ${minLength} characters` })
    .min(minLength, { error: `must be at least ${minLength} characters` });

/** Comma-separated parts, each of one kind. */
export const listOf = (isPart: (text: string) => boolean, error: string) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .refine((parts) => parts.length > 0 && parts.every(isPart), { error });

export const hostsAndPorts = () => listOf((text) => /^[^\s:,]+:\d{1,5}$/.test(text), 'must be host:port,host:port,…');

export const notYet = (advice: string) => z.undefined({ error: `is not served yet: ${advice}` }).optional();

/** What every app of Firstcome reads: where it listens, whom it believes, what it logs. */
export const commonFields = (port: number) => ({
  NODE_ENV: z.string().default('development'),
  HOST: z
    .string()
    .default('0.0.0.0')
    .refine((text) => isIP(text) !== 0, { error: 'must be the IP address to listen on (0.0.0.0 for all)' }),
  PORT: whole(port, 0, 65_535),
  DATABASE_POOL_SIZE: whole(10, 1, 200),
  JWT_SECRET: secret('the HS256 key of the tokens', 32),
  JWT_JWKS_URL: notYet('remove it and set JWT_SECRET (HS256)'),
  JWT_ISSUER: z.string().default('firstcome'),
  JWT_AUDIENCE: z.string().default('firstcome'),
  SERVICE_TOKEN: secret('the secret that the apps show each other', 16),
  LAB: oneOf('0', '1'),
  TRUST_PROXY: listOf(
    isProxy,
    'must list the addresses of your own proxies (or loopback, linklocal, uniquelocal)',
  ).optional(),
  CORS_ORIGINS: listOf(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must list origins, each like https://shop.example',
  ).optional(),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info'),
});

function isUrl(text: string, schemes: string[]): boolean {
  return URL.canParse(text) && schemes.includes(new URL(text).protocol.slice(0, -1));
}

function isProxy(text: string): boolean {
  return ['loopback', 'linklocal', 'uniquelocal'].includes(text) || isIP(text.replace(/\/\d{1,3}$/, '')) !== 0;
}
