import { checkInvariants, Database } from '@firstcome/postgres';
import { Injectable } from '@nestjs/common';
import { invariants } from './invariants.js';
import type { LabResetDto } from './lab.dto.js';
import type { InvariantReport } from './lab.view.js';
import { ProductService } from './product.service.js';
import type { ProductView } from './product.view.js';

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

  checkInvariants(): Promise<InvariantReport> {
    return checkInvariants(this.database, invariants);
  }
}
