import { Inject, Injectable } from '@nestjs/common';
import { DistributedLock } from '@firstcome/lock/nest';
import { Desk } from './desk.js';

@Injectable()
export class ReportJob {
  constructor(@Inject(Desk) private readonly desk: Desk) {}

  // @Cron('0 3 * * *') stands above or below: the lock keeps what other decorators attach.
  @DistributedLock({ key: 'job:report', waitMs: 0, skipWhenBusy: true })
  async run(): Promise<string> {
    await this.desk.writeReport();
    return 'written';
  }
}
