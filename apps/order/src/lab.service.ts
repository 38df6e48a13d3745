import { keyOfLockName } from '@firstcome/lock';
import { LockService } from '@firstcome/lock/nest';
import { checkInvariants, Database } from '@firstcome/postgres';
import { REDIS, scanKeys } from '@firstcome/redis';
import { Inject, Injectable } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { invariants } from './invariants.js';
import type { LabResetDto } from './lab.dto.js';
import type { InvariantReport, LockList, LockView } from './lab.view.js';
import { ProductService } from './product.service.js';
import type { ProductView } from './product.view.js';

const price = 100;

/** What a load run needs between two blocks. Only there with LAB=1. */
@Injectable()
export class LabService {
  constructor(
    private readonly database: Database,
    private readonly products: ProductService,
    private readonly lockService: LockService,
    @Inject(REDIS) private readonly redis: Redis | Cluster,
  ) {}

  /** A fresh product of `options` options with `stock` pieces each: orders of the block before keep theirs. */
  reset({ stock, options }: LabResetDto): Promise<ProductView> {
    const all = Array.from({ length: options }, (_, at) => ({ name: `Option ${at + 1}`, price, stock }));
    return this.products.create({ name: 'Lab', options: all });
  }

  checkInvariants(): Promise<InvariantReport> {
    return checkInvariants(this.database, invariants);
  }

  /** Every lock that is held or waited for right now. */
  async locks(): Promise<LockList> {
    const items: LockList['items'] = [];
    for await (const name of scanKeys(this.redis, 'lock:*')) {
      const key = keyOfLockName(name);
      if (key !== undefined) items.push(await this.inspect(key));
    }
    return { items: items.filter(({ held, waitersHere, queued }) => held || waitersHere + queued > 0) };
  }

  private async inspect(key: string): Promise<LockView> {
    const { held, remainingMs, fence, queued, waitersHere } = await this.lockService.inspect(key);
    return { key, held, remainingMs, fence, queued, waitersHere };
  }
}
