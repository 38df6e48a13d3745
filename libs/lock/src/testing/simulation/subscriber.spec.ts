import { describe, expect, it } from 'vitest';
import type { Network } from './connection.js';
import { Chance } from './chance.js';
import { RedisHost } from './host.js';
import { SimulatedProcess } from './process.js';
import { SimulatedSubscriber } from './subscriber.js';
import { VirtualTime } from './virtual-time.js';

describe('a simulated subscriber', () => {
  for (const end of ['close', 'broken'] as const) {
    it(`leaves no subscription on the server after "${end}", also not one that is just being ended`, async () => {
      const time = new VirtualTime();
      const host = new RedisHost(time, 1);
      const network = { time, delayMs: () => 1, reconnectMs: () => 1, trace: () => undefined } as unknown as Network;
      const process = new SimulatedProcess('p', time, new Chance(1), 1);
      const events = { message: () => undefined, lost: () => undefined };
      const subscriber = new SimulatedSubscriber(network, process, host, events);
      for (const name of ['stays', 'goes']) subscriber.subscribe(name).catch(() => undefined);
      while (time.step());
      expect(host.subscriptions).toBe(2);
      await subscriber.unsubscribe('goes');
      await subscriber[end]();
      while (time.step());
      expect(host.subscriptions).toBe(0);
    });
  }
});
