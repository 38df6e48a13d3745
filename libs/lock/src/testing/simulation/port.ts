import type { Call, RedisPort, RedisSubscriber, ScriptRun, SubscriberEvents } from '../../stores/redis/port.js';
import type { Script } from '../../stores/redis/script.js';
import { slotOf } from '../../stores/redis/slots.js';
import { Connection, type Network, type OnBreak } from './connection.js';
import type { RedisHost } from './host.js';
import type { SimulatedProcess } from './process.js';
import { SimulatedSubscriber } from './subscriber.js';

/** A client of one process: of a single server, or of a Cluster whose slots are dealt out among several. */
export class SimulatedPort implements RedisPort {
  readonly prefix = '';
  readonly connections: readonly Connection[];
  readonly subscribers: SimulatedSubscriber[] = [];

  constructor(
    private readonly network: Network,
    private readonly process: SimulatedProcess,
    private readonly hosts: readonly RedisHost[],
    onBreak: OnBreak,
    readonly cluster = false,
  ) {
    this.connections = hosts.map((host) => new Connection(network, process, host, onBreak));
  }

  get idle(): boolean {
    return this.connections.every(({ idle }) => idle);
  }

  async run(script: Script, run: ScriptRun, call: Call): Promise<unknown> {
    const places = new Set(run.keys.map((key) => (this.cluster ? slotOf(key) : 0)));
    if (places.size > 1) throw new Error('CROSSSLOT Keys in request do not hash to the same slot');
    const [slot = 0] = places;
    return this.connections[slot % this.hosts.length]!.run(script, run, call);
  }

  async runAll(script: Script, runs: readonly ScriptRun[], call: Call): Promise<unknown[]> {
    const settled = await Promise.allSettled(runs.map((run) => this.run(script, run, call)));
    return settled.map((result) => (result.status === 'fulfilled' ? result.value : result.reason));
  }

  openSubscriber(events: SubscriberEvents): RedisSubscriber {
    const open = this.hosts.map((host) => new SimulatedSubscriber(this.network, this.process, host, events));
    this.subscribers.push(...open);
    const of = (name: string) => open[this.cluster ? slotOf(name) % open.length : 0]!;
    return {
      subscribe: (name) => of(name).subscribe(name),
      unsubscribe: (name) => of(name).unsubscribe(name),
      close: async () => {
        await Promise.all(open.map((each) => each.close()));
      },
    };
  }
}
