export function signToken(
  claims: { sub: string; role?: string; hours?: number },
  key?: string,
  nowSeconds?: number,
): string;
