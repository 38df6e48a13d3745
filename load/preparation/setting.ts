// What every preparation is given, and what it hands back.
import { usersOf } from '../lib/arrivals.js';
import type { Phase } from '../lib/arrivals.js';
import type { ClientRecord } from '../lib/client-log.js';
import type { K6Input } from '../lib/k6-input.js';
import type { Finding } from '../reconcile.js';
import type { Stores } from '../stores.js';
import type { System } from '../system.js';

export interface Setting {
  system: System;
  stores: Stores;
  strategy: string;
  phases: Phase[];
  supply?: number;
  /** How many coupons share the load. */
  keys: number;
  userPrefix: string;
  /** Where the block's files go. */
  folder: string;
}

export interface Proof {
  findings: Finding[];
  /** What the rows say was given; under `none` what the clients were told. */
  sold?: number;
}

export interface Prepared {
  input: Partial<K6Input>;
  app: 'coupon' | 'order';
  requestsPerArrival: number;
  /** Right before k6 starts: what must begin with it. */
  restart?(): Promise<Partial<K6Input>>;
  prove(records: readonly ClientRecord[]): Promise<Proof>;
}

const changes = new Set(['issue', 'order', 'pay', 'cancel']);

/** How many were told that it happened; a replay tells it again. */
export const acknowledged = (records: readonly ClientRecord[]): number =>
  records.filter(({ outcome, replayed, request }) => outcome === 'acknowledged' && !replayed && changes.has(request))
    .length;

export const admin = ({ system }: Setting): { token: string } => ({ token: system.adminToken });
export const users = ({ phases }: Setting): number[] => Array.from({ length: usersOf(phases) }, (_, user) => user);
