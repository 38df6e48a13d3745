// What 1000 coupons cost: Redis commands, transactions, CPU.
import type { Interval } from '../../statistics.js';
import { bars } from '../charts.js';
import { flashOf } from '../digest.js';
import type { Digest, StrategyDigest } from '../digest.js';
import { figure, intervalCell } from '../format.js';
import { figureBox, name, section, table } from '../html.js';

export function costSection(digest: Digest): string {
  const flash = flashOf(digest).filter(({ perThousand, strategy }) => perThousand && strategy !== 'none');
  if (flash.length === 0) return '';
  const cpu = ({ perThousand }: StrategyDigest) => ({
    app: perThousand?.appCpu?.mid ?? 0,
    postgres: perThousand?.postgresCpu?.mid ?? 0,
    redis: perThousand?.redisCpu?.mid ?? 0,
  });
  const bar = (pick: (one: StrategyDigest) => Interval | undefined) =>
    bars(
      flash.map((one) => {
        const value = pick(one);
        return value
          ? { strategy: one.strategy, value: value.mid, low: value.low, high: value.high, label: figure(value.mid) }
          : { strategy: one.strategy, label: 'not measured' };
      }),
    );
  const total = (one: StrategyDigest) => cpu(one).app + cpu(one).postgres + cpu(one).redis;
  const behind = table<StrategyDigest>(
    'Per 1000 coupons issued, with everything that the refused cost beside them',
    [
      { head: 'strategy', cell: ({ strategy }) => name(strategy) },
      { head: 'Redis commands', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.redisCommands) },
      {
        head: 'Redis scripts called',
        number: true,
        cell: ({ perThousand }) => intervalCell(perThousand?.redisScripts),
      },
      { head: 'transactions', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.transactions) },
      { head: 'CPU s, apps', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.appCpu) },
      { head: 'CPU s, PostgreSQL', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.postgresCpu) },
      { head: 'CPU s, Redis', number: true, cell: ({ perThousand }) => intervalCell(perThousand?.redisCpu) },
      {
        head: 'connections, PostgreSQL / Redis',
        number: true,
        cell: ({ connections }) => (connections ? `${connections.postgres} / ${connections.redis}` : ''),
      },
      {
        head: 'users per batch',
        number: true,
        cell: ({ meanBatch }) => (meanBatch === undefined ? '' : figure(meanBatch)),
      },
      {
        head: 'optimistic retries',
        number: true,
        cell: ({ retries }) => (retries === undefined ? '' : figure(retries)),
      },
    ],
    flash,
  );
  const cpuBars = bars(
    flash.map((one) => ({ strategy: one.strategy, value: total(one), label: `${figure(total(one))} s` })),
  );
  return section(
    'cost',
    'What 1000 coupons cost',
    'Counted in PostgreSQL, in Redis and by the processes themselves, over the whole sale: the refused are part of the price, and so are the jobs that the apps run on the side whatever the strategy. Commands inside Redis scripts are counted too: a script is one way there and back, however many there are.',
    `<div class="pair">${figureBox(
      'Redis commands',
      bar(({ perThousand }) => perThousand?.redisCommands),
      'Shorter is cheaper.',
      behind,
    )}${figureBox(
      'Transactions',
      bar(({ perThousand }) => perThousand?.transactions),
      'Shorter is cheaper.',
      behind,
    )}${figureBox('CPU seconds: apps, PostgreSQL and Redis', cpuBars, 'Shorter is cheaper.', behind)}</div>`,
  );
}
