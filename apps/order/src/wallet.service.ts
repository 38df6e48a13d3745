import { decodeCursor, idempotency, page } from '@firstcome/http';
import type { Answer, IdempotentRequest, PageQuery } from '@firstcome/http';
import { Database } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { walletErrors } from './wallet.errors.js';
import { WalletRepository } from './wallet.repository.js';
import type { LedgerRow } from './wallet.repository.js';
import type { ChargeView, LedgerEntryView, LedgerPage, WalletView } from './wallet.view.js';

@Injectable()
export class WalletService {
  constructor(
    private readonly database: Database,
    private readonly wallets: WalletRepository,
  ) {}

  async find(userId: string): Promise<WalletView> {
    return { balance: await this.wallets.balance(userId) };
  }

  async charge(userId: string, amount: number, request: IdempotentRequest): Promise<Answer> {
    const replayed = await idempotency.replay(this.database, request);
    if (replayed) return replayed;
    return this.database.transaction((tx) =>
      idempotency.once(tx, request, async () => {
        const entry = await this.wallets.charge(tx, userId, amount);
        if (!entry) throw walletErrors.BALANCE_LIMIT_EXCEEDED();
        const charge: ChargeView = { ledgerId: entry.id, amount, balance: entry.balance };
        return { status: 201, body: JSON.stringify(charge), replayed: false };
      }),
    );
  }

  async ledger(userId: string, { limit, cursor }: PageQuery): Promise<LedgerPage> {
    const [before] = cursor ? decodeCursor(cursor, ['int']) : [];
    return page(await this.wallets.ledger(userId, before, limit + 1), limit, entryView);
  }
}

function entryView({ id, createdAt, ...entry }: LedgerRow): LedgerEntryView {
  return { ledgerId: id, ...entry, at: createdAt };
}
