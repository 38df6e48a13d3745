import {
  createHttpApp,
  httpErrors,
  HttpModule,
  metricsRegistry,
  ticketErrors,
  TicketModule,
  timing,
} from '@firstcome/http';
import { redisStore, redlockStore } from '@firstcome/lock';
import { LockModule, lockProblem, lockProblems } from '@firstcome/lock/nest';
import { Database, databaseErrors, databaseProblem, PostgresModule } from '@firstcome/postgres';
import { REDIS, RedisModule, RedisReadiness } from '@firstcome/redis';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { Coupons1763400000001 } from '../migrations/0001-coupons.js';
import { CouponUses1763400000002 } from '../migrations/0002-coupon-uses.js';
import { Strategies1763400000003 } from '../migrations/0003-strategies.js';
import { Transactions1763400000004 } from '../migrations/0004-transactions.js';
import { Tickets1763400000005 } from '../migrations/0005-tickets.js';
import { IdempotencyPurges1763400000006 } from '../migrations/0006-idempotency-purges.js';
import type { Cluster, Redis } from 'ioredis';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import { CouponAdminController } from './coupon.admin.controller.js';
import { CouponController } from './coupon.controller.js';
import { couponErrors } from './coupon.errors.js';
import { CouponRepository } from './coupon.repository.js';
import { CouponService } from './coupon.service.js';
import { DeskController } from './desk/desk.controller.js';
import { DeskGateway } from './desk/desk.gateway.js';
import { DeskService } from './desk/desk.service.js';
import { GrabLimits } from './grab-limits.js';
import { IdempotencyPurgeJob } from './idempotency-purge.job.js';
import { AdaptiveIssue } from './issuance/adaptive.js';
import { AdvisoryIssue } from './issuance/advisory.js';
import { AtomicIssue } from './issuance/atomic.js';
import { BatchSection } from './issuance/batch-section.js';
import { BatchedIssue } from './issuance/batched.js';
import { CriticalSection } from './issuance/critical-section.js';
import { IssueRepository } from './issuance/issue.repository.js';
import { NoneIssue } from './issuance/none.js';
import { OptimisticIssue } from './issuance/optimistic.js';
import { PessimisticIssue } from './issuance/pessimistic.js';
import { PubsubIssue } from './issuance/pubsub.js';
import { QueueIssue } from './issuance/queue.js';
import { RedlockIssue } from './issuance/redlock.js';
import { RedlockServers, RedlockServersModule } from './issuance/redlock-servers.js';
import { SoldOut } from './issuance/sold-out.js';
import { SpinIssue } from './issuance/spin.js';
import { Strategies } from './issuance/strategies.js';
import { IssueTicketJob } from './issue-ticket.job.js';
import { IssueTicketService } from './issue-ticket.service.js';
import { LabCouponRepository } from './lab-coupon.repository.js';
import { LabController } from './lab.controller.js';
import { LabService } from './lab.service.js';
import { TransactionController } from './transaction.controller.js';
import { TransactionRepository } from './transaction.repository.js';
import { TransactionService } from './transaction.service.js';
import { UserCouponController } from './user-coupon.controller.js';
import { UserCouponRepository } from './user-coupon.repository.js';
import { UserCouponService } from './user-coupon.service.js';

const migrations = [
  Coupons1763400000001,
  CouponUses1763400000002,
  Strategies1763400000003,
  Transactions1763400000004,
  Tickets1763400000005,
  IdempotencyPurges1763400000006,
];

@Module({})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        PostgresModule.forRoot({
          ...config.database,
          applicationName: 'coupon',
          migrations,
          measure: (part, work) => timing.measure(part, work),
        }),
        RedisModule.forRoot(config.redis),
        LockModule.forRootAsync({
          inject: [REDIS],
          useFactory: (redis: Redis | Cluster) => ({
            store: redisStore(redis),
            defaults: config.lock,
            backoff: config.backoff,
            metrics: metricsRegistry,
          }),
        }),
        ...(config.redlockUrls ? [redlockModule(config, config.redlockUrls)] : []),
        HttpModule.forRoot({
          auth: config.auth,
          readiness: needsRedis(config) ? [Database, RedisReadiness] : [Database],
        }),
        TicketModule.forRoot({ ...config.tickets, database: Database }),
        ScheduleModule.forRoot(),
      ],
      controllers: [
        CouponController,
        CouponAdminController,
        UserCouponController,
        DeskController,
        TransactionController,
        ...(config.lab ? [LabController] : []),
      ],
      providers: [
        { provide: CONFIG, useValue: config },
        CouponService,
        CouponRepository,
        UserCouponService,
        UserCouponRepository,
        TransactionService,
        TransactionRepository,
        GrabLimits,
        DeskService,
        DeskGateway,
        IssueTicketService,
        IssueTicketJob,
        IdempotencyPurgeJob,
        IssueRepository,
        CriticalSection,
        BatchSection,
        SoldOut,
        BatchedIssue,
        AtomicIssue,
        OptimisticIssue,
        PessimisticIssue,
        AdvisoryIssue,
        SpinIssue,
        AdaptiveIssue,
        PubsubIssue,
        QueueIssue,
        ...(config.redlockUrls ? [RedlockIssue] : []),
        Strategies,
        ...(config.lab ? [LabService, LabCouponRepository, NoneIssue] : []),
      ],
    };
  }
}

/** An instance that accepts what has to wait for Redis is ready without it. */
function needsRedis({ tickets }: Config): boolean {
  return !tickets.defer;
}

function redlockModule(config: Config, urls: string[]): DynamicModule {
  return LockModule.forRootAsync({
    name: 'redlock',
    imports: [RedlockServersModule.forRoot(urls)],
    inject: [RedlockServers],
    useFactory: ({ clients }: RedlockServers) => ({
      store: redlockStore(clients, { maxTtlMs: Math.max(30_000, config.lock.ttlMs) }),
      defaults: config.lock,
      metrics: metricsRegistry,
    }),
  });
}

/** The whole app, not yet listening. */
export function createCouponApp(config: Config) {
  return createHttpApp(AppModule.forRoot(config), {
    name: 'coupon',
    version: '0.1.0',
    translators: [databaseProblem, lockProblem],
    problems: [httpErrors, ticketErrors, couponErrors, databaseErrors, lockProblems].flatMap((table) =>
      Object.values(table),
    ),
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    logLevel: config.logLevel,
    docs: config.docs,
  });
}
