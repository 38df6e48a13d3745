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
const append = (order: string, types: string, data: string) => `insert into order_events (order_id, seq, type, data)
   select ${order}, (select coalesce(max(seq), 0) from order_events where order_id = ${order}) + event.nth, event.type, event.data
     from unnest(${types}::text[], ${data}::json[]) with ordinality as event (type, data, nth)`;

const appendStatement = sql('event-append', append('$1', '$2', '$3'));

/**
 * The same as a part of the statement that makes the transition, which saves a round trip. The parameters are those of the
 * order's id and of `eventValues`.
 */
export const appendedBy = (order: string, types: string, data: string) => `told as (${append(order, types, data)})`;
export const eventValues = (events: NewEvent[]): [types: string[], data: string[]] => [
  events.map(({ type }) => type),
  events.map(({ data }) => JSON.stringify(data)),
];

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
    await tx.query(appendStatement, [orderId, ...eventValues(events)]);
  }

  /** The user's order from its first event on; nothing where there is no such order of this user. */
  list(orderId: string, userId: string): Promise<EventView[]> {
    return this.database.query<EventView>(listStatement, [orderId, userId]);
  }
}
