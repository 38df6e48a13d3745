import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Connection } from './connection.js';
import { until } from './waiting.js';
import type { Verbs } from './worker-verbs.js';

const program = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** What the worker's verb threw, with the code of the lock error. */
export class WorkerError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(`${code}: ${message}`);
  }
}

interface Answer {
  id: number;
  result?: unknown;
  error?: { message: string; code: string };
}

/** A child process with the library in it. An unhandled rejection in there ends it, and `stop` then throws. */
export class WorkerProcess {
  readonly #asked = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  #ids = 0;
  #stderr = '';
  #killed = false;
  readonly #exited: Promise<unknown[]>;

  private constructor(private readonly child: ChildProcess) {
    this.#exited = once(child, 'exit');
    child.stderr?.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()));
    child.on('message', ({ id, result, error }: Answer) => {
      const asked = this.#asked.get(id);
      this.#asked.delete(id);
      if (error) asked?.reject(new WorkerError(error.code, error.message));
      else asked?.resolve(result);
    });
    child.on('exit', (code, signal) => {
      const error = new WorkerError('EXITED', `the worker ended with ${code ?? signal}\n${this.#stderr}`);
      for (const asked of this.#asked.values()) asked.reject(error);
      this.#asked.clear();
    });
  }

  static async start(): Promise<WorkerProcess> {
    const child = fork(program, {
      execArgv: ['--unhandled-rejections=strict', '--import', 'tsx'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const worker = new WorkerProcess(child);
    await new Promise((resolve, reject) => worker.#asked.set(0, { resolve, reject }));
    return worker;
  }

  get killed(): boolean {
    return this.#killed;
  }

  get pid(): number {
    return this.child.pid!;
  }

  ask<V extends keyof Verbs>(verb: V, argument?: Parameters<Verbs[V]>[0]): ReturnType<Verbs[V]> {
    this.#ids += 1;
    const id = this.#ids;
    const answer = new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }));
    this.child.send({ id, verb, argument });
    return answer as ReturnType<Verbs[V]>;
  }

  async kill(): Promise<void> {
    this.#killed = true;
    this.child.kill('SIGKILL');
    await this.#exited;
  }

  pause(): void {
    this.child.kill('SIGSTOP');
  }

  resume(): void {
    this.child.kill('SIGCONT');
  }

  /** Closes its client. Throws when something of it is left, or when the process had ended by itself. */
  async rest(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) {
      throw new Error(
        `the worker had ended by itself (${this.child.exitCode ?? this.child.signalCode}): ${this.#stderr}`,
      );
    }
    this.resume();
    const open = await this.ask('close');
    if (open.length > 0) throw new Error(`left open in the worker after close(): ${open.join(', ')}`);
  }
}

/** Returns once each of them has come to a good end with so many more holds. */
export async function furtherHolds(workers: readonly WorkerProcess[], holds: number): Promise<void> {
  await Promise.all(
    workers.map(async (worker) => {
      const before = await worker.ask('progress');
      await until(`${holds} further holds`, async () => (await worker.ask('progress')) >= before + holds);
    }),
  );
}

/** The processes of one spec file. Starting one costs more than most tests, so those that survive serve the next test. */
export class Workers {
  readonly #resting: WorkerProcess[] = [];
  readonly #busy: WorkerProcess[] = [];

  async start(connection: Connection): Promise<WorkerProcess> {
    const worker = this.#resting.pop() ?? (await WorkerProcess.start());
    this.#busy.push(worker);
    await worker.ask('connect', connection);
    return worker;
  }

  async startAll(count: number, connection: Connection): Promise<WorkerProcess[]> {
    return Promise.all(Array.from({ length: count }, () => this.start(connection)));
  }

  /** After each test. Rejects when a process had ended by itself, or has something left. */
  async rest(): Promise<void> {
    const alive = this.#busy.splice(0).filter((worker) => !worker.killed);
    const rested = await Promise.allSettled(alive.map((worker) => worker.rest()));
    for (const [index, result] of rested.entries()) {
      if (result.status === 'fulfilled') this.#resting.push(alive[index]!);
      else await alive[index]!.kill();
    }
    for (const result of rested) if (result.status === 'rejected') throw result.reason;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#busy, ...this.#resting].map((worker) => worker.kill()));
  }
}
