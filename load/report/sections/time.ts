// Where a winner's time goes: the lock, the database, the rest.
import { stacks } from '../charts.js';
import { flashOf } from '../digest.js';
import type { Digest, StrategyDigest } from '../digest.js';
import { figure, ms } from '../format.js';
import { figureBox, name, section, table } from '../html.js';

export function timeSection(digest: Digest): string {
  const timed = flashOf(digest).filter(({ parts }) => parts);
  if (timed.length === 0) return '';
  const split = ({ parts }: StrategyDigest) => {
    const { lock, hold, db, total } = parts!;
    // A lock is held around its transaction: what is not the database there is the lock's own round trips and the queue for a connection.
    const holding = Math.max(0, hold - db);
    return { lock, db, holding, rest: Math.max(0, total - lock - db - holding), total };
  };
  const rows = timed.map((one) => {
    const { lock, db, holding, rest, total } = split(one);
    return {
      strategy: one.strategy,
      parts: [
        { look: 'part-lock', value: lock },
        { look: 'part-db', value: db },
        { look: 'part-hold', value: holding },
        { look: 'part-rest', value: rest },
      ],
      label: ms(total),
    };
  });
  const keys = [
    { look: 'part-lock', label: 'waiting for the lock' },
    { look: 'part-db', label: 'in the database' },
    { look: 'part-hold', label: 'holding the lock, not in the database' },
    { look: 'part-rest', label: 'everything else' },
  ];
  const behind = table<StrategyDigest>(
    'Mean milliseconds of an issued request, from Server-Timing',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'lock', number: true, cell: ({ parts }) => figure(parts!.lock) },
      { head: 'hold', number: true, cell: ({ parts }) => figure(parts!.hold) },
      { head: 'db', number: true, cell: ({ parts }) => figure(parts!.db) },
      { head: 'whole request', number: true, cell: ({ parts }) => figure(parts!.total) },
    ],
    timed,
  );
  return section(
    'time',
    'Where a winner’s time goes',
    'Each row is one mean issued request, cut into what it spent its time on. Strategies that take turns in the database wait for the row there, so their waiting counts as database time.',
    figureBox('Shares of a request', stacks(rows, keys), 'The figure at the end is the whole request.', behind),
  );
}
