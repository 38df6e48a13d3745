import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { tokenFor } from './tokens.js';

export interface Block {
  couponId: number;
  strategy: string;
  /** In a closed loop: as many are under way at once, half of them at each instance. */
  users: number;
  warmUpMs: number;
  measureMs: number;
  /** Each comes once. Without it everybody comes again and again: for what issues nothing. */
  once: boolean;
}

export interface Told {
  /** Who was told 201, and the serial in it. */
  serials: Map<string, number>;
  /** Of what was sent in the measured part, also where the answer came after it: the slow ones are the point of a p99. */
  latenciesMs: number[];
  perSecond: number;
  /** Anything but 201, by its code. */
  refused: Record<string, number>;
  /** Whose last answer did not say what became of it. */
  doubtful: Set<string>;
}

interface Person {
  name: string;
  bearer: string;
}

// An instance remembers 10 000 verified tokens; these stay remembered.
const knownPeople = 9500;

/**
 * The users: raw keep-alive sockets, one thread. The client has to cost little, because it shares two cores with all that it
 * measures. A person always comes to the same instance, and so with a token that the instance knows.
 */
export class Crowd {
  private readonly people: Person[][];

  constructor(
    private readonly urls: string[],
    peoplePerInstance = knownPeople,
  ) {
    this.people = urls.map((_, instance) =>
      Array.from({ length: peoplePerInstance }, (__, index) => {
        const name = `person-${index * urls.length + instance}`;
        return { name, bearer: tokenFor(name) };
      }),
    );
  }

  /** Until all are answered: what was sent before the end of the block is waited for, and not measured. */
  async run({ couponId, strategy, users, warmUpMs, measureMs, once: each }: Block): Promise<Told> {
    // Of this block: an instance closes a connection on which nothing comes.
    const crowd = await this.connect(users);
    const begin = performance.now() + warmUpMs;
    let end = begin + measureMs;
    let issued = 0;
    const told: Told = { serials: new Map(), latenciesMs: [], perSecond: 0, refused: {}, doubtful: new Set() };
    const ask = async (line: Line, next: () => Person | undefined) => {
      for (let person = next(); person && performance.now() < end;) {
        const sentAt = performance.now();
        const { code, serial } = await line.grab(couponId, strategy, person.bearer);
        const answeredAt = performance.now();
        if (serial === undefined) {
          told.refused[code] = (told.refused[code] ?? 0) + 1;
          if (unknown.has(code)) told.doubtful.add(person.name);
          // Who was told to come back does.
          if (!final.has(code)) continue;
        } else {
          told.serials.set(person.name, serial);
          if (answeredAt >= begin && answeredAt < end) issued += 1;
          if (sentAt >= begin) told.latenciesMs.push(answeredAt - sentAt);
        }
        person = next();
      }
    };
    const loops = crowd.flatMap((lines, instance) => {
      const people = this.people[instance]!;
      let place = 0;
      const next = () => {
        if (place === people.length) {
          if (each) end = Math.min(end, performance.now());
          place = 0;
        }
        return people[place++];
      };
      return lines.map((line) => ask(line, next));
    });
    await Promise.all(loops);
    for (const line of crowd.flat()) line.close();
    told.perSecond = (issued / (end - begin)) * 1000;
    return told;
  }

  /** Every token once, so that each instance knows its people. */
  async introduce(couponId: number, strategy = 'empty'): Promise<void> {
    const crowd = await this.connect(64);
    const loops = crowd.flatMap((lines, instance) => {
      const left = [...this.people[instance]!];
      return lines.map(async (line) => {
        for (let person = left.pop(); person; person = left.pop()) await line.grab(couponId, strategy, person.bearer);
      });
    });
    await Promise.all(loops);
    for (const line of crowd.flat()) line.close();
  }

  private connect(users: number): Promise<Line[][]> {
    const lines = Array.from({ length: users / this.urls.length });
    return Promise.all(this.urls.map((url) => Promise.all(lines.map(() => Line.open(url)))));
  }
}

const final = new Set(['COUPON_ALREADY_ISSUED', 'COUPON_SOLD_OUT']);
const unknown = new Set(['LOCK_LOST', 'DATABASE_UNAVAILABLE']);

interface Reply {
  code: string;
  serial?: number;
}

/** One connection, one request at a time. Knows as much of HTTP as these answers need. */
class Line {
  private received = '';
  private answer: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;

  private constructor(
    private readonly socket: Socket,
    private readonly host: string,
  ) {
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.read(chunk));
    socket.on('close', () => this.answer?.reject(new Error('an instance closed a connection that it had to answer')));
    socket.on('error', () => undefined);
  }

  static async open(url: string): Promise<Line> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Line(socket, host);
  }

  grab(couponId: number, strategy: string, bearer: string): Promise<Reply> {
    this.socket.write(
      `POST /v1/coupons/${couponId}/issues HTTP/1.1\r\nHost: ${this.host}\r\nAuthorization: Bearer ${bearer}\r\nX-Issue-Strategy: ${strategy}\r\n\r\n`,
      'latin1',
    );
    return new Promise((resolve, reject) => (this.answer = { resolve, reject }));
  }

  close(): void {
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    this.received += chunk.toString('latin1');
    const head = this.received.indexOf('\r\n\r\n');
    if (head === -1) return;
    const lengthAt = this.received.indexOf('content-length: ') + 16;
    const length = Number.parseInt(this.received.slice(lengthAt, lengthAt + 8), 10);
    if (this.received.length < head + 4 + length) return;
    const text = this.received;
    this.received = '';
    const { answer } = this;
    this.answer = undefined;
    if (text.startsWith('201', 9)) {
      const at = text.indexOf('"serial":', head) + 9;
      answer?.resolve({ code: '201', serial: Number.parseInt(text.slice(at, at + 12), 10) });
    } else {
      answer?.resolve({ code: /"code":"(\w+)"/.exec(text.slice(head))?.[1] ?? text.slice(9, 12) });
    }
  }
}
