import { createHttpApp, httpErrors, HttpModule, timing } from '@firstcome/http';
import { Database, databaseErrors, databaseProblem, PostgresModule } from '@firstcome/postgres';
import { type DynamicModule, Module } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Orders1763400000001 } from '../migrations/0001-orders.js';
import { CONFIG } from './config.js';
import type { Config } from './config.js';
import { EventRepository } from './event.repository.js';
import { LabController } from './lab.controller.js';
import { LabService } from './lab.service.js';
import { OptionController } from './option.controller.js';
import { OptionRepository } from './option.repository.js';
import { OptionService } from './option.service.js';
import { OrderController } from './order.controller.js';
import { OrderRepository } from './order.repository.js';
import { OrderService } from './order.service.js';
import { PaymentController } from './payment.controller.js';
import { PaymentRepository } from './payment.repository.js';
import { PaymentService } from './payment.service.js';
import { ProductController } from './product.controller.js';
import { ProductRepository } from './product.repository.js';
import { ProductService } from './product.service.js';
import { SortedStock } from './stock/sorted.js';
import { Strategies } from './stock/strategies.js';
import { WalletController } from './wallet.controller.js';
import { WalletRepository } from './wallet.repository.js';
import { WalletService } from './wallet.service.js';

const migrations = [Orders1763400000001];

@Module({})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        HttpModule.forRoot({ auth: config.auth, readiness: [Database] }),
        PostgresModule.forRoot({
          ...config.database,
          applicationName: 'order',
          migrations,
          measure: (part, work) => timing.measure(part, work),
        }),
      ],
      controllers: [
        OrderController,
        PaymentController,
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
        WalletService,
        WalletRepository,
        ProductService,
        ProductRepository,
        OptionService,
        OptionRepository,
        Strategies,
        SortedStock,
        ...(config.lab ? [LabService] : []),
      ],
    };
  }
}

/** The whole order service, not yet listening. */
export function createOrderApp(config: Config): Promise<NestFastifyApplication> {
  return createHttpApp(AppModule.forRoot(config), {
    name: 'order',
    version: '0.1.0',
    translators: [databaseProblem],
    problems: [...Object.values(httpErrors), ...Object.values(databaseErrors)],
    trustProxy: config.trustProxy,
    corsOrigins: config.corsOrigins,
    logLevel: config.logLevel,
    docs: config.docs,
  });
}
