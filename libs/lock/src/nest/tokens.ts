import { Inject, type InjectionToken } from '@nestjs/common';
import { LockHealthIndicator } from './lock.health.js';
import { LockService } from './lock.service.js';

/** The client without a name is injected by its class. */
export function locksToken(name?: string): InjectionToken {
  return name === undefined ? LockService : `firstcome:locks:${name}`;
}

export function healthToken(name?: string): InjectionToken {
  return name === undefined ? LockHealthIndicator : `firstcome:lock-health:${name}`;
}

/** `constructor(@InjectLocks('reports') private readonly locks: LockService)` */
export function InjectLocks(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(locksToken(name));
}
