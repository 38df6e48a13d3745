import {
  createHttpApp,
  httpErrors,
  HttpModule,
  metricsRegistry,
  ticketErrors,
  TicketModule,
  timing,
} from '@firstcome/http';
import { redisStore } from '@firstcome/lock';
import { LockModule, lockProblem, lockProblems } from '@firstcome/lock/nest';
import { Database, databaseErrors, databaseProblem, PostgresModule } from '@firstcome/postgres';
import { REDIS, RedisModule, RedisReadiness } from '@firstcome/redis';
import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Cluster, Redis } from 'ioredis';
import { Orders1763400000001 } from '../migrations/0001-orders.js';
import { StockStrategies1763400000002 } from '../migrations/0002-stock-strategies.js';
import { Refunds1763400000003 } from '../migrations/0003-refunds.js';
import { PopularProducts1763400000004 } from '../migrations/0004-popular-products.js';
import { CouponUses1763400000005 } from '../migrations/0005-coupon-uses.js';
import { TwoPhase1763400000006 } from '../migrations/0006-two-phase.js';
import { KeysInProgress1763400000007 } from '../migrations/0007-keys-in-progress.js';
import { Tickets1763400000008 } from '../migrations/0008-tickets.js';
import { IdempotencyPurges1763400000009 } from '../migrations/0009-idempotency-purges.js';
import { ClosingController } from './closing.controller.js';
import { ClosingService } from './closing.service.js';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import { Saga } from './coordination/saga.js';
import { COORDINATION } from './coordination/strategy.js';
import { TwoPhase } from './coordination/two-phase.js';
import { CouponClient } from './coupon.client.js';
import { CouponRecoveryJob } from './coupon-recovery.job.js';
import { CouponUseRepository } from './coupon-use.repository.js';
import { CouponUseService } from './coupon-use.service.js';
import { EventRepository } from './event.repository.js';
import { ExpiryJob } from './expiry.job.js';
import { IdempotencyPurgeJob } from './idempotency-purge.job.js';
import { LabController } from './lab.controller.js';
import { LabService } from './lab.service.js';
import { OptionController } from './option.controller.js';
import { OptionRepository } from './option.repository.js';
import { OptionService } from './option.service.js';
import { OrderController } from './order.controller.js';
import { OrderRepository } from './order.repository.js';
import { OrderService } from './order.service.js';
import { OrderTicketJob } from './order-ticket.job.js';
import { OrderTicketService } from './order-ticket.service.js';
import { PaymentController } from './payment.controller.js';
import { PaymentRepository } from './payment.repository.js';
import { PaymentService } from './payment.service.js';
import { ProductController } from './product.controller.js';
import { ProductRepository } from './product.repository.js';
import { ProductService } from './product.service.js';
import { AtomicStock } from './stock/atomic.js';
import { NoStock } from './stock/none.js';
import { OptimisticStock } from './stock/optimistic.js';
import { OptionLocks } from './stock/option-locks.js';
import { PubsubStock } from './stock/pubsub.js';
import { SortedStock } from './stock/sorted.js';
import { SpinStock } from './stock/spin.js';
import { Strategies } from './stock/strategies.js';
import { UnsortedStock } from './stock/unsorted.js';
import { WalletController } from './wallet.controller.js';
import { WalletRepository } from './wallet.repository.js';
import { WalletService } from './wallet.service.js';

const migrations = [
  Orders1763400000001,
  StockStrategies1763400000002,
  Refunds1763400000003,
  PopularProducts1763400000004,
  CouponUses1763400000005,
  TwoPhase1763400000006,
  KeysInProgress1763400000007,
  Tickets1763400000008,
  IdempotencyPurges1763400000009,
];
const stockStrategies = [SortedStock, OptimisticStock, AtomicStock, SpinStock, PubsubStock, UnsortedStock, NoStock];

@Module({})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        HttpModule.forRoot({
          auth: config.auth,
          readiness: needsRedis(config) ? [Database, RedisReadiness] : [Database],
        }),
        PostgresModule.forRoot({
          ...config.database,
          applicationName: 'order',
          migrations,
          measure: (part, work) => timing.measure(part, work),
        }),
        TicketModule.forRoot({ ...config.tickets, database: Database }),
        ScheduleModule.forRoot(),
        RedisModule.forRoot(config.redis),
        LockModule.forRootAsync({
          inject: [REDIS],
          useFactory: (redis: Redis | Cluster) => ({
            store: redisStore(redis),
            defaults: config.lock,
            metrics: metricsRegistry,
          }),
        }),
      ],
      controllers: [
        OrderController,
        PaymentController,
        ClosingController,
        WalletController,
        ProductController,
        OptionController,
        ...(config.lab ? [LabController] : []),
      ],
      providers: [
        { provide: CONFIG, useValue: config },
        OrderService,
        OrderRepository,
        EventRepository,
        PaymentService,
        PaymentRepository,
        ClosingService,
        ExpiryJob,
        OrderTicketService,
        OrderTicketJob,
        IdempotencyPurgeJob,
        CouponClient,
        CouponUseRepository,
        CouponUseService,
        CouponRecoveryJob,
        Saga,
        TwoPhase,
        { provide: COORDINATION, useExisting: config.coordination === '2pc' ? TwoPhase : Saga },
        WalletService,
        WalletRepository,
        ProductService,
        ProductRepository,
        OptionService,
        OptionRepository,
        Strategies,
        OptionLocks,
        ...stockStrategies,
        ...(config.lab ? [LabService] : []),
      ],
    };
  }
}

/**
 * By default stock is kept in order by row locks: then orders go on without Redis, and only the jobs wait for it. Nor is it
 * needed where orders that have to wait for it are accepted.
 */
function needsRedis({ stockStrategy, tickets }: Config): boolean {
  return !tickets.defer && (stockStrategy === 'spin' || stockStrategy === 'pubsub');
}

/** The whole order service, not yet listening. */
export function createOrderApp(config: Config): Promise<NestFastifyApplication> {
  return createHttpApp(AppModule.forRoot(config), {
    name: 'order',
    version: '0.1.0',
    translators: [databaseProblem, lockProblem],
    problems: [httpErrors, ticketErrors, databaseErrors, lockProblems].flatMap((table) => Object.values(table)),
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    logLevel: config.logLevel,
    docs: config.docs,
  });
}
