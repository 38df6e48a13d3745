import { Inject } from '@nestjs/common';
import {
  LockBusyError,
  LockError,
  LockLostError,
  LockUsageError,
  LockWaitTimeoutError,
  StaleFenceError,
} from '../errors.js';
import { targetOf } from '../key.js';
import type { LockOptions } from '../options.js';
import { LockService } from './lock.service.js';
import { locksToken } from './tokens.js';

type Keys = string | readonly string[];

export interface DistributedLockOptions<A extends Arguments> extends LockOptions {
  /** The key, or a function of the method's own arguments. */
  key: Keys | ((...args: A) => Keys);
  /** The client to use, where there are several. */
  client?: string;
  /** What a caller is told who did not get the lock. */
  failureMessage?: string;
  /** A scheduled job that runs elsewhere already is no error: the method is not run and returns undefined. */
  skipWhenBusy?: boolean;
}

// oxlint-disable typescript/no-explicit-any -- any method whose parameters begin with those of the key function
type Arguments = any[];
type MethodFor<A extends Arguments> = (...args: [...A, ...any[]]) => Promise<any>;
// oxlint-enable typescript/no-explicit-any

const injected = Symbol('firstcome:locks');

/**
 * Runs the method under a lock. The lease is `currentLease()` inside. Exceptions of the method pass unchanged, and what
 * other decorators, above or below, have attached to the method stays attached.
 */
export function DistributedLock<A extends Arguments>(options: DistributedLockOptions<A>) {
  const { key, client, failureMessage, skipWhenBusy, ...lockOptions } = options;
  if (typeof key !== 'function') targetOf(key);
  return <M extends MethodFor<A>>(
    prototype: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): void => {
    const method = descriptor.value;
    if (!method) throw new LockUsageError('@DistributedLock stands on a method.');
    const property = locksProperty(prototype, client);
    const locked = async function (this: Record<symbol, LockService>, ...args: unknown[]): Promise<unknown> {
      const locks = this[property];
      if (!locks)
        throw new LockUsageError(`${String(name)}() is locked: let Nest create its class, and import LockModule.`);
      const keys = typeof key === 'function' ? key(...(args as A)) : key;
      let entered = false;
      try {
        return await locks.withLock(
          keys,
          () => {
            entered = true;
            return method.apply(this, args as [...A, ...unknown[]]);
          },
          lockOptions,
        );
      } catch (error) {
        if (entered || !isRefusal(error)) throw error;
        if (skipWhenBusy && (error instanceof LockBusyError || error instanceof LockWaitTimeoutError)) return undefined;
        error.failureMessage = failureMessage;
        throw error;
      }
    };
    descriptor.value = disguise(locked, method) as M;
  };
}

/** Property injection: works for any provider, however its constructor looks. One property per client and class. */
function locksProperty(prototype: object, client: string | undefined): symbol {
  const property = client === undefined ? injected : Symbol.for(`firstcome:locks:${client}`);
  if (!Object.hasOwn(prototype, property)) {
    Object.defineProperty(prototype, property, { value: undefined, writable: true, configurable: true });
    Inject(locksToken(client))(prototype, property);
  }
  return property;
}

/** Same name, arity, prototype, own properties and metadata: a route, a Swagger operation or a @Cron does not see the lock. */
function disguise(locked: object, method: object): object {
  Object.setPrototypeOf(locked, Object.getPrototypeOf(method) as object);
  for (const property of Reflect.ownKeys(method)) {
    const descriptor = Object.getOwnPropertyDescriptor(method, property);
    if (descriptor && property !== 'prototype') Object.defineProperty(locked, property, descriptor);
  }
  for (const metadataKey of Reflect.getMetadataKeys(method) as unknown[]) {
    Reflect.defineMetadata(metadataKey, Reflect.getMetadata(metadataKey, method), locked);
  }
  return locked;
}

function isRefusal(error: unknown): error is LockError {
  return error instanceof LockError && !(error instanceof LockLostError) && !(error instanceof StaleFenceError);
}
