import { Redis } from 'ioredis';
import { Monitor, type Observed } from './monitor.js';
import type { RedisServer } from './redis-server.js';
import { now, until } from './waiting.js';

/** What the commands of `queue` on one key were for. */
export interface QueueBill {
  /** Looks that put a new entry in the line. */
  entered: number;
  /** Looks that took the lock: free, or handed over. */
  granted: number;
  /** Releases of whoever held it. */
  released: number;
  /** Releases that found nobody in line, and called everybody. */
  calledAll: number;
  /** Looks that found a line to wait in and were in it: unasked. */
  looked: number;
  /** Entries made once more, after a look of somebody else had dropped them: not claimed in time, so taken for dead. */
  enteredAgain: number;
  droppedUnclaimed: number;
  /** How long the work took: looks by time are one per process and second. */
  ms: number;
  /** Anything else that clients sent. */
  others: string[];
}

/** Reads MONITOR: a command of a client, and then what its script did. */
export async function queueBill(server: RedisServer, key: string, work: () => Promise<void>): Promise<QueueBill> {
  const lock = `lock:${key}`;
  const line = `lock:queue:${key}`;
  const entries = new Map<string, { looked: number; entered: boolean; dropped: boolean }>();
  const bill = { entered: 0, granted: 0, released: 0, calledAll: 0, enteredAgain: 0, droppedUnclaimed: 0 };
  const others: string[] = [];
  const marks: string[] = [];
  let joining: string | undefined;
  let releasing = false;

  const entryOf = (token: string) => {
    let entry = entries.get(token);
    if (!entry) entries.set(token, (entry = { looked: 0, entered: false, dropped: false }));
    return entry;
  };
  const fromClient = ({ args }: Observed) => {
    joining = undefined;
    releasing = false;
    const [, , count, first, second] = args;
    if (args[0]?.toLowerCase() === 'echo') marks.push(args[1] ?? '');
    else if (marks.length !== 1) return;
    else if (count === '3' && first === lock && second === line && args.length === 15) {
      joining = args[7]!;
      // Until its script is seen to do more.
      entryOf(joining).looked += 1;
    } else if (count === '3' && first === lock && second === line && args.length === 10) {
      bill.released += 1;
      releasing = true;
    } else others.push(args.slice(0, 4).join(' '));
  };
  const fromScript = ({ args: [command, name, third, fourth] }: Observed) => {
    if (marks.length !== 1) return;
    if (command === 'PUBLISH' && third === '' && releasing) bill.calledAll += 1;
    if (!joining) return;
    const entry = entryOf(joining);
    if (command === 'SET' && name === lock && third === joining) {
      bill.granted += 1;
      entry.looked -= 1;
    } else if (command === 'ZADD' && name === line && !third?.startsWith('-') && fourth?.endsWith(joining)) {
      if (entry.entered) bill.enteredAgain += 1;
      else bill.entered += 1;
      entry.entered = true;
      entry.looked -= 1;
    } else if (command === 'ZREM' && name === line && !third?.endsWith(joining)) bill.droppedUnclaimed += 1;
  };

  const monitor = await Monitor.start(server.port, (observed) =>
    observed.script ? fromScript(observed) : fromClient(observed),
  );
  const redis = new Redis(server.port);
  const mark = async (name: string) => {
    await redis.echo(name);
    await until('MONITOR has caught up', () => marks.includes(name));
  };
  await mark('begin');
  const startedAt = now();
  await work();
  const ms = now() - startedAt;
  await mark('end');
  redis.disconnect();
  await monitor.stop();
  const looked = [...entries.values()].reduce((sum, entry) => sum + entry.looked, 0);
  return { ...bill, looked, ms, others };
}
