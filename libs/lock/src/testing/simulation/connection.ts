import type { Call, ScriptRun } from '../../stores/redis/port.js';
import type { Script } from '../../stores/redis/script.js';
import type { RedisHost } from './host.js';
import { LuaError } from './lua/values.js';
import type { SimulatedProcess } from './process.js';
import type { Reply } from './redis-server.js';
import type { VirtualTime } from './virtual-time.js';

/** What becomes of one request. The number is what it costs in milliseconds. */
export type Fate =
  | 'fine'
  /** Never reaches the server. */
  | 'request lost'
  /** Is done, and nobody hears of it. */
  | 'reply lost'
  /** Is done, the reply is lost, the client sends it again (ioredis does). */
  | 'twice'
  /** Everything on this connection waits. */
  | 'slow'
  /** Is done at once; its reply and all that come after it on this connection wait. */
  | 'slow reply'
  /** Lies in the buffer of a connection that is gone, and is done later than what was sent after it. */
  | 'astray';

/** What the user's client does with a request that was under way when its connection broke. */
export type OnBreak = 'resend' | 'reject' | 'hang';

export interface Network {
  time: VirtualTime;
  /** One way. */
  delayMs(): number;
  fate(script: string): { fate: Fate; ms: number };
  reconnectMs(): number;
  answered(process: SimulatedProcess, script: string, run: ScriptRun, reply: Reply, host: RedisHost): void;
  trace(line: () => string): void;
}

interface Request {
  script: Script;
  run: ScriptRun;
  call: Call;
  resolve(reply: unknown): void;
  reject(error: Error): void;
}

/** The command connection of one process to one server: in order, until it breaks. */
export class Connection {
  #arrivesAt = 0;
  #repliesAt = 0;
  #upAt = 0;
  #epoch = 0;
  readonly #underWay = new Set<Request>();

  constructor(
    private readonly network: Network,
    private readonly process: SimulatedProcess,
    readonly host: RedisHost,
    private readonly onBreak: OnBreak,
  ) {
    host.connect(this);
  }

  get idle(): boolean {
    return this.#underWay.size === 0;
  }

  run(script: Script, run: ScriptRun, call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => this.#send({ script, run, call, resolve, reject }, false));
  }

  broken(): void {
    this.network.trace(() => `${this.process.name}: connection broken`);
    this.#epoch += 1;
    this.#upAt = this.network.time.now + this.network.reconnectMs();
    for (const request of this.#underWay) this.#lost(request, this.network.delayMs());
  }

  #send(request: Request, again: boolean): void {
    const { time } = this.network;
    this.#underWay.add(request);
    const upAt = Math.max(this.#upAt, this.host.down ? this.host.downUntil + this.network.delayMs() : 0);
    if (upAt > time.now) {
      this.process.deliver(upAt, () => {
        if (request.call.abandoned && !again) this.#settle(request, () => request.reject(new Error('given up unsent')));
        else this.#send(request, again);
      });
      return;
    }
    const { fate, ms } = again ? { fate: 'fine', ms: 0 } : this.network.fate(request.script.name);
    if (fate !== 'fine')
      this.network.trace(() => `${this.process.name}: ${request.script.name} ${fate} ${ms.toFixed(1)}`);
    const inOrder = Math.max(this.#arrivesAt, time.now + this.network.delayMs() + (fate === 'slow' ? ms : 0));
    if (fate === 'request lost') this.#lost(request, ms);
    else if (fate === 'astray') {
      time.in(ms, () => this.#arrive(request, () => undefined));
      this.#lost(request, this.network.delayMs());
    } else {
      this.#arrivesAt = inOrder;
      const epoch = this.#epoch;
      time.at(inOrder, () => {
        // Of what was in the wires when the connection broke, some had arrived.
        if (epoch !== this.#epoch && this.process.chance.happens(0.5)) return;
        this.#arrive(request, (settle) => {
          if (fate === 'reply lost') this.#lost(request, ms);
          else if (fate === 'twice') this.process.deliver(time.now + ms, () => this.#send(request, true));
          else if (epoch === this.#epoch) this.#reply(request, settle, fate === 'slow reply' ? ms : 0);
        });
      });
    }
  }

  #arrive(request: Request, answer: (settle: () => void) => void): void {
    this.host.whenRunning(() => {
      if (this.host.down) return;
      const { script, run } = request;
      try {
        const reply = this.host.run(script.source, run.keys, run.args);
        this.network.trace(
          () => `  redis ${script.name} ${run.keys.join(' ')} | ${run.args.join(' ')} -> ${JSON.stringify(reply)}`,
        );
        this.network.answered(this.process, script.name, run, reply, this.host);
        answer(() => request.resolve(reply));
      } catch (error) {
        if (!(error instanceof LuaError)) throw error;
        this.network.trace(() => `  redis ${script.name} ${run.keys.join(' ')} -> ${error.message}`);
        answer(() => request.reject(error));
      }
    });
  }

  #reply(request: Request, settle: () => void, laterMs: number): void {
    const epoch = this.#epoch;
    this.#repliesAt = Math.max(this.#repliesAt, this.network.time.now + this.network.delayMs() + laterMs);
    this.process.deliver(this.#repliesAt, () => {
      if (epoch === this.#epoch) this.#settle(request, settle);
    });
  }

  #lost(request: Request, afterMs: number): void {
    this.process.deliver(this.network.time.now + afterMs, () => {
      if (!this.#underWay.has(request)) return;
      if (this.onBreak === 'resend') this.#send(request, true);
      else if (this.onBreak === 'reject')
        this.#settle(request, () => request.reject(new Error('Connection is closed.')));
      else this.#underWay.delete(request);
    });
  }

  #settle(request: Request, settle: () => void): void {
    this.#underWay.delete(request);
    settle();
  }
}
