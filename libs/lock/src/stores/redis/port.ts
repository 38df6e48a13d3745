import type { Script } from './script.js';

/** A call that was given up must not be sent late. */
export interface Call {
  abandoned: boolean;
}

export interface ScriptRun {
  keys: readonly string[];
  args: readonly (string | number)[];
}

/**
 * All of Redis that the library uses. Behind it: a client of the user's, or a simulation. Promises may stay unsettled for
 * ever: whoever calls has a deadline of its own.
 */
export interface RedisPort {
  /** Names take braces, channels are sharded. */
  readonly cluster: boolean;
  /** What the client puts before every key by itself. Channel names are not keys: they get it from us. */
  readonly prefix: string;
  /** One command: EVALSHA, or EVAL where the server does not know the script yet. */
  run(script: Script, run: ScriptRun, call: Call): Promise<unknown>;
  /** One round trip per node, whatever the number. Errors are answers. */
  runAll(script: Script, runs: readonly ScriptRun[], call: Call): Promise<unknown[]>;
  /** A second connection, for subscriptions only. */
  openSubscriber(events: SubscriberEvents): RedisSubscriber;
}

export interface SubscriberEvents {
  message(channel: string, message: string): void;
  /** A subscription that was acknowledged is gone: its connection broke, or its slot moved. */
  lost(name: string): void;
}

/** `name` is a pattern on a single node, and a sharded channel on a Cluster. */
export interface RedisSubscriber {
  /** Resolves with the server's acknowledgement, when the connection is there. */
  subscribe(name: string): Promise<void>;
  unsubscribe(name: string): Promise<void>;
  close(): Promise<void>;
}
