import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { TokenVerifier } from './token-verifier.js';

const auth = { secret: 'a secret of thirty-two characters', issuer: 'i', audience: 'a', serviceToken: 'service' };

function sign(claims: Record<string, unknown> = {}, alg = 'HS256'): Promise<string> {
  const exp = Math.floor(Date.now() / 1000) + 60;
  return new SignJWT({ sub: 'alice', iss: 'i', aud: 'a', exp, ...claims })
    .setProtectedHeader({ alg })
    .sign(new TextEncoder().encode(auth.secret.padEnd(64, '!').slice(0, alg === 'HS256' ? auth.secret.length : 64)));
}

describe('the token verifier', () => {
  it('remembers what it verified, and nothing else', async () => {
    const tokens = new TokenVerifier(auth);
    const token = await sign({ role: 'admin' });
    expect(tokens.cached(token)).toBeUndefined();
    expect(await tokens.verify(token)).toEqual({ id: 'alice', admin: true });
    expect(tokens.cached(token)).toEqual({ id: 'alice', admin: true });
    expect(tokens.cached(`${token}x`)).toBeUndefined();
    expect(await tokens.verify(`${token}x`)).toBeUndefined();
    expect(tokens.cached(`${token}x`)).toBeUndefined();
  });

  it('knows HS256 only', async () => {
    expect(await new TokenVerifier(auth).verify(await sign({}, 'HS512'))).toBeUndefined();
  });

  it('holds a bounded number of tokens and lets the one longest unused go', async () => {
    const tokens = new TokenVerifier(auth, 3);
    const [first, second, third, fourth] = await Promise.all(['1', '2', '3', '4'].map((sub) => sign({ sub })));
    for (const token of [first!, second!, third!]) await tokens.verify(token);
    tokens.cached(first!);
    await tokens.verify(fourth!);
    expect([first, second, third, fourth].map((token) => tokens.cached(token!)?.id)).toEqual([
      '1',
      undefined,
      '3',
      '4',
    ]);
  });

  it('lets no known token overtake a new one that came before it', async () => {
    const tokens = new TokenVerifier(auth);
    const [fresh, known] = [await sign({ sub: 'fresh' }), await sign({ sub: 'known' })];
    await tokens.verify(known);
    const out: (string | undefined)[] = [];
    const both = [fresh, known].map((token) =>
      Promise.resolve(tokens.inTurn(token)).then((user) => out.push(user?.id)),
    );
    await Promise.all(both);
    expect(out).toEqual(['fresh', 'known']);
    await new Promise((resolve) => setImmediate(resolve));
    expect(tokens.inTurn(known), 'with nobody before it, at once').toEqual({ id: 'known', admin: false });
  });

  it('compares the service token as a whole', () => {
    const tokens = new TokenVerifier(auth);
    expect(['service', 'servic', 'services', ''].map((token) => tokens.isServiceToken(token))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
