import { Database, sql } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { invariants } from './invariants.js';
import type { LabResetDto } from './lab.dto.js';
import type { InvariantReport, InvariantResult } from './lab.view.js';
import { ProductService } from './product.service.js';
import type { ProductView } from './product.view.js';

const shownBreaches = 10;
const price = 100;

/** What a load run needs between two blocks. Only there with LAB=1. */
@Injectable()
export class LabService {
  constructor(
    private readonly database: Database,
    private readonly products: ProductService,
  ) {}

  /** A fresh product of `options` options with `stock` pieces each: orders of the block before keep theirs. */
  reset({ stock, options }: LabResetDto): Promise<ProductView> {
    const all = Array.from({ length: options }, (_, at) => ({ name: `Option ${at + 1}`, price, stock }));
    return this.products.create({ name: 'Lab', options: all });
  }

  async checkInvariants(): Promise<InvariantReport> {
    const checked: InvariantResult[] = [];
    for (const [at, { id, name, text }] of invariants.entries()) {
      const breaches = await this.database.query<Record<string, unknown>>(sql(`invariant-${at}`, text));
      checked.push({ id, name, breaches: breaches.length, examples: breaches.slice(0, shownBreaches) });
    }
    return { ok: checked.every(({ breaches }) => breaches === 0), invariants: checked };
  }
}
