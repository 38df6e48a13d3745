import { Global, Module, type DynamicModule, type InjectionToken } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { AuthOptions } from './auth.js';
import { AuthGuard } from './auth.guard.js';
import { HealthController, READINESS_CHECKS, type ReadinessCheck } from './health.controller.js';
import { InternalController } from './internal.controller.js';
import { KnownPaths } from './known-paths.js';
import { Lifecycle } from './lifecycle.js';
import { StrictInputGuard } from './strict-input.guard.js';
import { TokenVerifier } from './token-verifier.js';
import { Upgrades } from './upgrades.js';

export interface HttpModuleOptions {
  auth: AuthOptions;
  /** Tokens of providers that are a ReadinessCheck, such as `Database` and `RedisReadiness`; of global modules. */
  readiness: InjectionToken[];
}

@Global()
@Module({})
export class HttpModule {
  static forRoot(options: HttpModuleOptions): DynamicModule {
    return {
      module: HttpModule,
      controllers: [HealthController, InternalController],
      providers: [
        Lifecycle,
        KnownPaths,
        Upgrades,
        { provide: TokenVerifier, useValue: new TokenVerifier(options.auth) },
        // In this order: first who asks, then what.
        { provide: APP_GUARD, useClass: AuthGuard },
        { provide: APP_GUARD, useClass: StrictInputGuard },
        {
          provide: READINESS_CHECKS,
          useFactory: (...checks: ReadinessCheck[]) => checks,
          inject: options.readiness,
        },
      ],
      exports: [Lifecycle, TokenVerifier, Upgrades],
    };
  }
}
