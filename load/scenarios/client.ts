// The client of every scenario: sends a request, classifies the answer, and writes both to the client log.
import type { Phase } from '../lib/arrivals.ts';
import type { ClientRecord } from '../lib/client-log.ts';
import type { K6Input } from '../lib/k6-input.ts';
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import http from 'k6/http';
import type { RefinedResponse, ResponseType } from 'k6/http';
import { Counter } from 'k6/metrics';
import type { Options } from 'k6/options';
import { arrivalScenario, arrivalsOf } from '../lib/arrivals.ts';
import type { ArrivalScenario } from '../lib/arrivals.ts';
import { classify } from '../lib/outcome.ts';
import { parseServerTiming } from '../lib/server-timing.ts';

export const input = JSON.parse(open(__ENV['INPUT']!)) as K6Input;
const tokens = lines('tokens', input.tokensFile);

// k6 brings no types for it: what is logged goes to the file that the runner names, one line each.
declare const console: { log(line: string): void };

const arrived = new Counter('arrived');
const answers = new Counter('answers');
const unexpectedAnswers = new Counter('unexpected_answers');

// A refusal is an answer: only what nobody foresaw counts as failed.
http.setResponseCallback(http.expectedStatuses({ min: 200, max: 299 }, 409, 429, 503));

/** A file of lines, kept once for all users of this k6 process. */
export function lines(name: string, file: string): string[] {
  return new SharedArray<string>(name, () => open(file).split('\n'));
}

/** One k6 scenario per phase, each naming the function it runs. */
export function arrivals(run: string, phases: Phase[] = input.phases): Record<string, ArrivalScenario> {
  return Object.fromEntries(phases.map((phase) => [phase.name, arrivalScenario(phase, run, input)]));
}

export function options(scenarios: Record<string, ArrivalScenario>, more: Options['thresholds'] = {}): Options {
  return {
    scenarios,
    thresholds: {
      // A threshold on a metric without samples passes, so each gate stands beside the proof that something was counted.
      arrived: [input.dropsAllowed ? 'count>0' : `count==${planned()}`],
      answers: ['count>0'],
      unexpected_answers: ['count==0'],
      ...more,
    },
    noConnectionReuse: false,
    summaryTrendStats: ['med', 'p(99)', 'max'],
  };
}

const planned = (): number => input.phases.reduce((sum, phase) => sum + arrivalsOf(phase), 0);

function phaseOfThis(): Phase {
  const phase = input.phases.find(({ name }) => name === exec.scenario.name);
  if (!phase) throw new Error(`No phase is called ${exec.scenario.name}.`);
  return phase;
}

/** The number of this arrival in the whole shape. */
export const arrival = (): number => phaseOfThis().first + exec.scenario.iterationInTest;

/** What each arrival does. Those that k6 starts beyond the phase's number, to be sure of it, do nothing. */
export function onArrival(work: (user: number) => void): () => void {
  return () => {
    const phase = phaseOfThis();
    const place = exec.scenario.iterationInTest;
    if (place >= arrivalsOf(phase)) return;
    arrived.add(1);
    work(phase.first + place);
  };
}

export interface Call {
  request: string;
  method: 'GET' | 'POST';
  path: string;
  /** User n; undefined for a public read. */
  user?: number;
  body?: object;
  key?: string;
  about?: string;
  /** Which instance is asked; without it all of them in turn. */
  instance?: number;
}

interface Body {
  code?: string;
  userCouponId?: string;
  orderId?: string;
  paymentId?: string;
  serial?: number;
  status?: string | number;
}

export function send(call: Call): ClientRecord {
  const instance = (call.instance ?? arrival()) % input.urls.length;
  const at = Date.now();
  const { method, url, body, params } = prepare(call, instance);
  return record(call, instance, at, http.request(method, url, body, params));
}

/** All at the same moment, to the instances in turn: a race by construction. */
export function sendTogether(calls: Call[]): ClientRecord[] {
  const at = Date.now();
  const prepared = calls.map((call, place) => prepare(call, (call.instance ?? place) % input.urls.length));
  const responses = http.batch(prepared.map(({ method, url, body, params }) => ({ method, url, body, params })));
  return responses.map((response, place) => {
    const call = calls[place]!;
    return record(call, (call.instance ?? place) % input.urls.length, at, response);
  });
}

function prepare({ method, path, user, body, key, request }: Call, instance: number) {
  const headers: Record<string, string> = { accept: 'application/json' };
  if (user !== undefined) {
    if (!tokens[user]) throw new Error(`There is no token for user ${user}.`);
    headers['authorization'] = `Bearer ${tokens[user]}`;
  }
  if (key !== undefined) headers['idempotency-key'] = key;
  if (method === 'POST') headers['content-type'] = 'application/json';
  if (input.strategyHeader && method === 'POST') headers[input.strategyHeader.name] = input.strategyHeader.value;
  // Longer than any deadline of the system: a client that gives up first would see only its own patience.
  const params = { headers, timeout: '18s', tags: { name: request }, redirects: 0 };
  return {
    method,
    url: `${input.urls[instance]}${path}`,
    body: method === 'POST' ? JSON.stringify(body ?? {}) : null,
    params,
  };
}

function record(
  call: Call,
  instance: number,
  at: number,
  response: RefinedResponse<ResponseType | undefined>,
): ClientRecord {
  const told = Date.now();
  const body = parseBody(response);
  const code = response.status >= 400 && typeof body.code === 'string' ? body.code : '';
  const outcome = classify(response.status, code);
  const timing = parseServerTiming(response.headers['Server-Timing']);
  // An order's answer names the coupon that it used as well.
  const id = call.request === 'issue' ? body.userCouponId : body.orderId;
  const entry: ClientRecord = {
    phase: exec.scenario.name,
    request: call.request,
    at,
    ms: Math.round((response.timings.blocked + response.timings.duration) * 1000) / 1000,
    told,
    user: call.user === undefined ? '' : `${input.userPrefix}${call.user}`,
    instance,
    status: response.status,
    code,
    outcome,
    ...(call.key !== undefined && { key: call.key }),
    ...(call.about !== undefined && { about: call.about }),
    ...(response.headers['Idempotency-Replayed'] === 'true' && { replayed: true }),
    ...(id !== undefined && { id }),
    ...(typeof body.serial === 'number' && { serial: body.serial }),
    ...(typeof body.status === 'string' && { state: body.status }),
    ...timing,
  };
  answers.add(1);
  unexpectedAnswers.add(outcome === 'unexpected' ? 1 : 0);
  console.log(JSON.stringify(entry));
  return entry;
}

function parseBody(response: RefinedResponse<ResponseType | undefined>): Body {
  if (typeof response.body !== 'string' || response.body === '') return {};
  try {
    const body: unknown = JSON.parse(response.body);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

export function handleSummary(data: unknown): Record<string, string> {
  return { [input.summaryFile]: JSON.stringify(data) };
}
