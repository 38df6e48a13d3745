import { Global, Module, type DynamicModule, type InjectionToken } from '@nestjs/common';
import { TicketController } from './ticket.controller.js';
import { Tickets, type TicketDatabase, type TicketOptions } from './tickets.js';

export interface TicketModuleOptions extends TicketOptions {
  /** The token of a provider of a global module, such as `Database`. */
  database: InjectionToken;
}

/** The table, and the route that shows a ticket. What a ticket asks for, and who does it, is the app's. */
@Global()
@Module({})
export class TicketModule {
  static forRoot({ database, ...options }: TicketModuleOptions): DynamicModule {
    const tickets = {
      provide: Tickets,
      inject: [database],
      useFactory: (executor: TicketDatabase) => new Tickets(executor, options),
    };
    return { module: TicketModule, controllers: [TicketController], providers: [tickets], exports: [Tickets] };
  }
}
