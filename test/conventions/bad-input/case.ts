import { call } from '../../support/client.js';
import type { Call, Reply } from '../../support/client.js';
import { serviceToken, tokenFor } from '../../support/tokens.js';

export type Service = 'coupon' | 'order';

/** One row of the table in FAULTS.md section 3, on one service: what is sent, and what must come back. */
export interface Case extends Call {
  service: Service;
  name: string;
  method: string;
  path: string;
  status: number;
  code: string;
  /** Whose token goes along; 'user' unless said. */
  as?: 'user' | 'admin' | 'service' | 'nobody';
}

/** What a group of cases has in common: `wrong(name, answer, what is sent)` then makes one. */
export const casesOn =
  (service: Service, path: string, common: Partial<Case> = {}) =>
  (name: string, answer: string, sent: Partial<Case> = {}): Case => {
    const [status, code] = answer.split(' ');
    return { service, path, name, method: 'POST', ...common, ...sent, status: Number(status), code: code! };
  };

let keys = 0;

export async function send(base: string, { method, path, as = 'user', ...options }: Case): Promise<Reply> {
  const token = await tokenOf(as);
  // A fresh key each time, so that no case is answered with another's stored answer.
  const key = 'key' in options ? options.key : `bad-input-${(keys += 1)}`;
  return call(base, method, path, { token, ...options, key });
}

const typeOf = { type: 'string', title: 'string', detail: 'string', retryable: 'boolean', traceId: 'string' };

/** What is wrong with an error answer, whoever gave it; nothing, when it is the problem document that is due. */
export function defectsOf({ status, headers, json, text }: Reply, due: { status: number; code: string }): string[] {
  const document: Record<string, unknown> = json ?? {};
  const untyped = Object.entries(typeOf).filter(([member, type]) => typeof document[member] !== type);
  const defects: [isDefect: boolean, defect: string][] = [
    [status !== due.status || document['code'] !== due.code, `${status} ${text.slice(0, 400)}`],
    [!headers['content-type']?.startsWith('application/problem+json'), `content-type ${headers['content-type']}`],
    [document['status'] !== status, 'status differs in the document'],
    [untyped.length > 0, `members missing or of another type: ${untyped.map(([member]) => member).join()}`],
    [document['retryable'] === true && !(Number(headers['retry-after']) > 0), 'retryable without Retry-After'],
    [status === 401 && !headers['www-authenticate']?.startsWith('Bearer '), '401 without WWW-Authenticate'],
    [status === 405 && !/GET|POST/.test(headers.allow ?? ''), '405 without Allow'],
  ];
  return defects.filter(([isDefect]) => isDefect).map(([, defect]) => defect);
}

/** A route of each service that takes a body, with a body that is right: each case spoils one thing. */
export const targets = {
  coupon: {
    path: '/v1/admin/coupons',
    as: 'admin' as const,
    good: { name: 'Ten off', discount: { type: 'FIXED', value: 10 }, total: 3 },
  },
  order: { path: '/v1/orders', as: 'user' as const, good: { items: [{ optionId: 1, quantity: 1 }] } },
};

function tokenOf(who: NonNullable<Case['as']>): Promise<string> | string | undefined {
  if (who === 'nobody') return undefined;
  return who === 'service' ? serviceToken : tokenFor(who, who === 'admin' ? { role: 'admin' } : {});
}
