import { Database, sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { EventType, EventView } from './event.view.js';

/** What a transition of an order leaves behind, written in the transaction that makes it. */
export interface NewEvent {
  type: EventType;
  data: Record<string, unknown>;
}

// Whoever appends holds the order's row, so the next number is free: the primary key would say so if it were not.
const appendStatement = sql(
  'event-append',
  `insert into order_events (order_id, seq, type, data)
   select $1, (select coalesce(max(seq), 0) from order_events where order_id = $1) + event.nth, event.type, event.data
     from unnest($2::text[], $3::json[]) with ordinality as event (type, data, nth)`,
);

const listStatement = sql(
  'event-list',
  `select e.seq, e.type, e.data, e.created_at as at
     from order_events e join orders o on o.id = e.order_id
    where o.id = $1 and o.user_id = $2
    order by e.seq`,
);

@Injectable()
export class EventRepository {
  constructor(private readonly database: Database) {}

  async append(tx: Transaction, orderId: string, events: NewEvent[]): Promise<void> {
    const data = events.map((event) => JSON.stringify(event.data));
    await tx.query(appendStatement, [orderId, events.map((event) => event.type), data]);
  }

  /** The user's order from its first event on; nothing where there is no such order of this user. */
  list(orderId: string, userId: string): Promise<EventView[]> {
    return this.database.query<EventView>(listStatement, [orderId, userId]);
  }
}
