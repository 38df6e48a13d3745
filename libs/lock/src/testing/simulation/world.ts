import type { ScriptRun } from '../../stores/redis/port.js';
import type { StoreFactory } from '../../stores/store.js';
import { Actor } from './actor.js';
import { Chance } from './chance.js';
import type { Fate, Network } from './connection.js';
import { RedisHost } from './host.js';
import type { Library } from './library.js';
import { Operators } from './operators.js';
import type { FaultPlan, Plan } from './plan.js';
import { SimulatedPort } from './port.js';
import { SimulatedProcess } from './process.js';
import type { Reply } from './redis-server.js';
import { GuardedResource } from './resource.js';
import { VirtualTime } from './virtual-time.js';
import { Witness } from './witness.js';

const closeGraceMs = 2000;

/** One run of one plan: processes, servers, the wires between them, and a witness. */
export class World implements Network {
  readonly time = new VirtualTime();
  readonly hosts: RedisHost[];
  readonly processes: SimulatedProcess[];
  readonly ports: { port: SimulatedPort; process: SimulatedProcess }[] = [];
  readonly actors: Actor[];
  readonly witness: Witness;
  readonly lines: string[] = [];
  readonly #resources = new Map<string, GuardedResource>();
  readonly #operators: Operators;
  readonly #chance: Chance;
  #disturbedUntil = -Infinity;
  #healed = false;
  /** After the last operation has begun and the last fault has set in. */
  readonly #lastMs: number;
  readonly #forgetful = new Set<RedisHost>();

  constructor(
    readonly plan: Plan,
    library: Library,
    private readonly tracing: boolean,
  ) {
    this.#chance = new Chance(plan.seed + 0.5 * 2 ** 32);
    this.hosts = plan.hosts.map(({ rate }) => new RedisHost(this.time, rate));
    const rates = new Map<SimulatedProcess, number>();
    // Redlock's nodes bear their marks from long ago: it knows a node that forgot by the age of its mark.
    if (plan.store === 'redlock')
      for (const { server } of this.hosts) server.command('SET', 'lock:fence:redlock:node', 1e15);
    this.processes = plan.processes.map(({ rate }, index) => {
      const process = new SimulatedProcess(`p${index}`, this.time, this.#chance.fork(), rate);
      rates.set(process, rate);
      return process;
    });
    // What one verb may take: a call per key's slot; with Redlock a leader, the others, the raised fence and the giving back.
    const verbMs = plan.callTimeoutMs * (plan.store === 'redlock' ? 6 : plan.keys.length);
    this.witness = new Witness({
      time: this.time,
      free: (keys) => keys.every((key) => this.#free(key)),
      disturbedUntil: () => this.#disturbedUntil,
      callTimeoutMs: verbMs,
      delayMs: plan.delayMs[1] * (plan.store === 'redlock' ? 5 : 1),
      rateOf: (process) => rates.get(process) ?? 1,
      prompt: isPrompt(plan),
      longestMs: Math.max(
        ...plan.operations.map(({ options, extendMs = 0 }) => Math.max(options.ttlMs ?? 0, extendMs)),
      ),
      recheckMs: Math.max(...plan.operations.map(({ options }) => options.recheckMs ?? 0)),
    });
    this.#operators = new Operators(plan.store === 'memory', (key) => this.witness.promiseBroken(key));
    this.actors = this.#makeActors(library, verbMs);
    for (const operation of plan.operations) {
      const actor = this.actors[operation.process]!;
      actor.process.deliver(operation.atMs, () => void actor.perform(operation));
    }
    for (const fault of plan.faults) this.#schedule(fault);
    this.#lastMs = Math.max(plan.faultsUntilMs, ...plan.operations.map(({ atMs }) => atMs));
    this.time.at(this.#lastMs + 0.001, () => undefined);
    this.time.at(plan.faultsUntilMs, () => (this.#healed = true));
  }

  trace(line: () => string): void {
    if (this.tracing) this.lines.push(`${this.time.now.toFixed(3).padStart(11)} ${line()}`);
  }

  delayMs(): number {
    return this.#chance.real(...this.plan.delayMs);
  }

  reconnectMs(): number {
    return this.time.now === 0 ? this.delayMs() : this.#chance.real(1, 300);
  }

  fate(script: string): { fate: Fate; ms: number } {
    if (!this.#healed) {
      for (const [fate, probability] of Object.entries(this.plan.fates) as [Fate, number][]) {
        if (!this.#chance.happens(probability)) continue;
        const ms = this.#chance.real(0, this.#chance.pick([5, 100, 2500]));
        this.#disturb(ms);
        this.witness.count(`${fate}: ${script}`);
        return { fate, ms };
      }
    }
    return { fate: 'fine', ms: 0 };
  }

  answered(process: SimulatedProcess, script: string, run: ScriptRun, reply: Reply, host: RedisHost): void {
    const [lock = ''] = run.keys;
    if (script === 'inspect' && Array.isArray(reply)) this.#operators.looked(process, lock, String(reply[0]));
    else if (script === 'release' && reply !== 0) this.#operators.released(process, String(run.args[0]));
    else if (script === 'acquire' && Array.isArray(reply) && reply[0] === 0) this.#checkBusy(run, host);
  }

  /** A command may be done twice, and must never find itself in its own way. */
  #checkBusy(run: ScriptRun, host: RedisHost): void {
    const [token] = run.args;
    const locks = run.keys.slice(0, run.keys.length / 2);
    if (locks.every((name) => !host.server.has(name) || host.server.command('GET', name) === token)) {
      this.witness.violation(`${locks.join(', ')} busy for the token that has it (law 8)`);
    }
  }

  /** One event. False when nothing will ever happen again. */
  step(): boolean {
    return this.time.step();
  }

  observe(): void {
    this.witness.observe();
  }

  /** What is still under way: operations, clean-ups, requests. Empty when the world is at rest. */
  get unrest(): string {
    const [active] = this.witness.active;
    if (active) return `operation ${active.plan.id} is ${active.phase}`;
    if (this.time.now <= this.#lastMs) return 'faults to come';
    const begun = new Set(this.witness.records.map(({ plan }) => plan.id));
    const begins = (id: number, process: number) => !begun.has(id) && !this.actors[process]!.process.dead;
    if (this.plan.operations.some(({ id, process }) => begins(id, process))) return 'operations to come';
    if (this.#live.some(({ process }) => process.stopped)) return 'a process is stopped';
    if (this.hosts.some((host) => host.down || host.stopped)) return 'Redis is away';
    const stats = this.#live.map(({ locks }) => locks.stats());
    if (stats.some(({ keysInUse }) => keysInUse > 0)) return 'looks';
    if (stats.some(({ tidying }) => tidying > 0)) return 'clean-ups';
    return this.ports.some(({ port, process }) => !process.dead && !port.idle) ? 'requests' : '';
  }

  /** As soon as all is quiet no key is left, but what the dead left and what nobody could take away. */
  checkKeys(): void {
    if (this.#mayLeaveKeys) return;
    for (const host of this.hosts) {
      const left = host.server.keys().filter((name) => !name.startsWith('lock:fence:'));
      if (left.length > 0) this.witness.violation(`${left.join(', ')} left in Redis (law 10)`);
    }
  }

  /** A little later nothing is left in the processes. */
  checkQuiet(): void {
    for (const { process, locks } of this.#live) {
      const { holds, waiters, keysInUse, tidying } = locks.stats();
      const left = holds + waiters + keysInUse + tidying;
      if (left > 0) this.witness.violation(`${process.name} is not at rest: ${JSON.stringify(locks.stats())} (law 10)`);
      if (process.timers > 0) this.witness.violation(`${process.name} has ${process.timers} timers left (law 10)`);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#live.map(({ locks }) => locks.close()));
  }

  checkClosed(): void {
    if (this.time.size > 0) this.witness.violation(`${this.time.size} events to come after everybody closed (law 15)`);
    for (const host of this.hosts) {
      if (host.subscriptions > 0) this.witness.violation(`${host.subscriptions} subscriptions left (law 10)`);
      const names = host.server.keys().filter((name) => !name.startsWith('lock:fence:'));
      // The line of a killed process stands for a day at most; nobody waits for it.
      const stay = names.filter((name) => !name.startsWith('lock:queue:') || host.server.command('PTTL', name) === -1);
      if (stay.length > 0) this.witness.violation(`${stay.join(', ')} outlived every TTL (law 10)`);
    }
    for (const [key, { value, writes: accepted }] of this.#resources) {
      if (value !== accepted) this.witness.violation(`${accepted} writes of "${key}" made ${value} (law 18)`);
    }
  }

  get #live(): Actor[] {
    return this.actors.filter(({ process }) => !process.dead);
  }

  /** The dead cannot clean up; what is lost several times in a row, or done late, is left to its TTL. */
  get #mayLeaveKeys(): boolean {
    const { facts } = this.witness;
    const lost = Object.entries(facts).reduce(
      (sum, [fact, count]) => sum + (/lost:|astray:/.test(fact) ? count : 0),
      0,
    );
    const astray = Object.keys(facts).some((fact) => fact.startsWith('astray'));
    return lost > 2 || astray || this.plan.faults.length > 0;
  }

  #makeActors(library: Library, verbMs: number): Actor[] {
    const { plan } = this;
    const memory = library.memoryStore();
    const [first] = this.processes;
    return this.processes.map((own, index) => {
      // Memory is shared inside one process only: its clients share its clock, too.
      const process = plan.store === 'memory' ? first! : own;
      const store = plan.store === 'memory' ? memory : this.#redisStore(library, own, index);
      const locks = library.createLocks({
        store,
        clock: process.clock,
        random: process.chance.fork(),
        defaults: { strategy: plan.strategy },
        handOver: plan.handOver,
        batchSize: plan.batchSize,
        closeGraceMs,
      });
      return new Actor(process, locks, {
        library,
        witness: this.witness,
        resource: (key) => this.#resource(key),
        forcing: (who, key) => this.#operators.begin(who, key, this.#nameOf(key)),
        callTimeoutMs: verbMs,
        faulty: () => this.#disturbedUntil > -Infinity,
        closeMs: closeGraceMs + 10 * verbMs + 2000,
        trace: (line) => this.trace(line),
      });
    });
  }

  #redisStore(library: Library, process: SimulatedProcess, index: number): StoreFactory {
    const { callTimeoutMs, store } = this.plan;
    const { onBreak } = this.plan.processes[index]!;
    const over = (hosts: readonly RedisHost[]) => {
      const port = new SimulatedPort(this, process, hosts, onBreak, store === 'cluster');
      this.ports.push({ port, process });
      return library.redisPortStore(port, { callTimeoutMs });
    };
    return store === 'redlock' ? library.redlockOf(this.hosts.map((host) => over([host]))) : over(this.hosts);
  }

  #resource(key: string): GuardedResource {
    let resource = this.#resources.get(key);
    if (!resource) this.#resources.set(key, (resource = new GuardedResource()));
    return resource;
  }

  #nameOf(key: string): string {
    return this.plan.store === 'cluster' ? `lock:{${key}}` : `lock:${key}`;
  }

  #free(key: string): boolean {
    const name = this.#nameOf(key);
    return this.hosts.every((host) => !host.down && !host.server.has(name));
  }

  /** A minority of Redlock's nodes may forget: the others remember, and these are not asked for a while. */
  #forgot(host: RedisHost): void {
    this.#forgetful.add(host);
    if (this.plan.store !== 'redlock' || this.#forgetful.size > this.hosts.length / 2) this.witness.promiseBroken();
  }

  #disturb(ms: number): void {
    this.#disturbedUntil = Math.max(this.#disturbedUntil, this.time.now + ms + 600);
  }

  #schedule(fault: FaultPlan): void {
    const { atMs, kind, ms } = fault;
    const process = this.processes[fault.process]!;
    const host = this.hosts[fault.host]!;
    const ports = this.ports.filter((each) => each.process === process).map(({ port }) => port);
    const subscribers = ports.flatMap((port) => port.subscribers);
    let remembered = () => host.server.wipe();
    if (kind === 'fail over') {
      const { lagMs } = fault;
      this.time.at(atMs - lagMs, () => (remembered = host.server.copy()));
    }
    // So that time goes on until it is over, even where nobody waits for that.
    this.time.at(atMs + Math.max(0, ms), () => undefined);
    this.time.at(atMs, () => {
      this.trace(() => `FAULT ${kind} ${process.name} ${ms.toFixed(0)}`);
      this.witness.count(kind);
      this.#disturb(ms);
      if (kind === 'stop process') process.stop(ms);
      else if (kind === 'kill process') {
        process.kill();
        for (const subscriber of subscribers) subscriber.broken();
      } else if (kind === 'cut subscriber') for (const subscriber of subscribers) subscriber.broken();
      else if (kind === 'cut commands')
        for (const connection of ports.flatMap((port) => port.connections)) connection.broken();
      else if (kind === 'stop redis') host.stop(ms);
      else if (kind === 'jump redis') {
        if (ms > 0) this.witness.promiseBroken();
        host.jump(ms);
      } else {
        this.#forgot(host);
        if (kind === 'wipe redis') host.server.wipe();
        else host.restart(ms, remembered);
      }
    });
  }
}

/** Whether nothing that is planned keeps the news of a free lock from those who wait for it. */
function isPrompt({ operations, store }: Plan): boolean {
  return operations.every(({ kind, options: { autoRenew, strategy } }) => {
    // In a line only the next one in it is told who holds the lock now, and for how long.
    if (strategy === 'queue' && !autoRenew) return false;
    // Of several keys one was taken away: the others stand for their TTL, and only a server can be asked for that.
    return store !== 'memory' || kind !== 'force';
  });
}
