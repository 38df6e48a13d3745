import { sql } from '@firstcome/postgres';
import type { Transaction } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import type { PaymentMethod } from './payment.dto.js';

// UNIQUE (order_id) behind it: an order is paid at most once, whoever asks.
const createStatement = sql(
  'payment-create',
  'insert into payments (id, order_id, method, amount) values ($1, $2, $3, $4)',
);

@Injectable()
export class PaymentRepository {
  async create(tx: Transaction, id: string, orderId: string, method: PaymentMethod, amount: number): Promise<void> {
    await tx.query(createStatement, [id, orderId, method, amount]);
  }
}
