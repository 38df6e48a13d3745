import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { appendedBy, eventValues } from './event.repository.js';
import type { NewEvent } from './event.repository.js';
import type { PaymentMethod } from './payment.dto.js';

export interface NewPayment {
  id: string;
  orderId: string;
  method: PaymentMethod;
  amount: number;
}

// UNIQUE (order_id) behind it: an order is paid at most once, whoever asks.
const createStatement = sql(
  'payment-create',
  `with ${appendedBy('$2', '$5', '$6')}
   insert into payments (id, order_id, method, amount) values ($1, $2, $3, $4)`,
);

@Injectable()
export class PaymentRepository {
  async create(tx: Transaction, payment: NewPayment, events: NewEvent[]): Promise<void> {
    const { id, orderId, method, amount } = payment;
    await tx.query(createStatement, [id, orderId, method, amount, ...eventValues(events)]);
  }
}
