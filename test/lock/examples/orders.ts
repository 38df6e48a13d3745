import { Inject, Injectable } from '@nestjs/common';
import { currentLease } from '@firstcome/lock';
import { DistributedLock } from '@firstcome/lock/nest';
import { Desk } from './desk.js';

@Injectable()
export class Orders {
  constructor(@Inject(Desk) private readonly desk: Desk) {}

  @DistributedLock({
    key: (user: string, product: string) => `order:${user}:${product}`,
    waitMs: 2000,
    failureMessage: 'Your last order of this is still being placed.',
  })
  async place(user: string, product: string): Promise<string> {
    return this.desk.placeOrder(user, product, currentLease()!);
  }
}
