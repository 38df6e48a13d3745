import type { StrategyName } from './options.js';

export type RefusalOutcome = 'busy' | 'timeout' | 'aborted' | 'backend_down' | 'queue_full';
export type ReleaseOutcome = 'released' | 'lost' | 'unknown';

interface About {
  key: string;
  strategy: StrategyName;
}

/** What the client reports as it happens: metrics and logs hang here, and nothing in the library depends on them. */
export type LockEvent =
  /** handoffMs: from the moment the release was heard of (or happened in this process) to this grant. */
  | (About & { type: 'acquired'; waitedMs: number; handedOver: boolean; handoffMs?: number })
  | (About & { type: 'refused'; outcome: RefusalOutcome; waitedMs: number })
  | (About & { type: 'released'; outcome: ReleaseOutcome; heldMs: number })
  | (About & { type: 'lost'; reason: string; heldMs: number })
  /** A fixed lease is 80 % over and its body has not ended. */
  | (About & { type: 'long_hold'; heldMs: number; remainingMs: number })
  | (About & { type: 'waiting'; change: 1 | -1 })
  | { type: 'renewed'; result: 'ok' | 'lost' | 'failed'; count: number }
  | { type: 'batch'; key: string; size: number };

export type LockObserver = (event: LockEvent) => void;

/** An observer that throws must not break a lock; it is told so once. */
export function guarded(observer: LockObserver | undefined): LockObserver | undefined {
  if (!observer) return undefined;
  let told = false;
  return (event) => {
    try {
      observer(event);
    } catch (error) {
      if (told) return;
      told = true;
      process.emitWarning(`A lock observer threw; its errors are ignored from now on: ${String(error)}`);
    }
  };
}
