import {
  Module,
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  type ModuleMetadata,
  type Provider,
} from '@nestjs/common';
import type { Registry } from 'prom-client';
import type { LockObserver } from '../events.js';
import type { LocksOptions } from '../locks-options.js';
import { lockMetrics } from '../metrics.js';
import { LockHealthIndicator } from './lock.health.js';
import { LockService } from './lock.service.js';
import { healthToken, locksToken } from './tokens.js';

export interface LockModuleOptions extends LocksOptions {
  /** A Prometheus registry for the metrics of this client. */
  metrics?: Registry;
  /** The metrics' label of a key; the default replaces what looks like an id by `*`. */
  labelOf?: (key: string) => string;
}

export interface LockModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** Several clients in one application have names; one may go without. */
  name?: string;
  inject?: FactoryProvider['inject'];
  useFactory: (...args: never[]) => LockModuleOptions | Promise<LockModuleOptions>;
}

/** Global: locks are taken everywhere, and there is one client per store. */
@Module({})
export class LockModule {
  static forRoot({ name, ...options }: LockModuleOptions & { name?: string }): DynamicModule {
    return LockModule.forRootAsync({ name, useFactory: () => options });
  }

  static forRootAsync({ name, imports, inject, useFactory }: LockModuleAsyncOptions): DynamicModule {
    const token: InjectionToken = locksToken(name);
    const health: InjectionToken = healthToken(name);
    const providers: Provider[] = [
      {
        provide: token,
        inject: inject ?? [],
        useFactory: async (...args: never[]) => new LockService(observed(await useFactory(...args))),
      },
      { provide: health, inject: [token], useFactory: (locks: LockService) => new LockHealthIndicator(locks) },
    ];
    return { module: LockModule, global: true, imports: imports ?? [], providers, exports: [token, health] };
  }
}

function observed({ metrics, labelOf, ...options }: LockModuleOptions): LocksOptions {
  const { onEvent } = options;
  if (!metrics) return options;
  const measure: LockObserver = lockMetrics(metrics, { labelOf });
  return {
    ...options,
    onEvent: (event) => {
      measure(event);
      onEvent?.(event);
    },
  };
}
