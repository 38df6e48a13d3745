// npm run faults [-- seconds [seed]]: storms of four rounds, each with a seed of its own and under pubsub and queue in turn, until the time is over.
import { storm } from '../lock/support/storm.js';
import { Workers } from '../lock/support/workers.js';

const seconds = Number(process.argv[2] ?? 120);
let seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const end = performance.now() + seconds * 1000;
const workers = new Workers();
let failed = false;
let harmed = 0;
while (performance.now() < end) {
  const strategy = seed % 2 ? 'queue' : 'pubsub';
  const report = await storm({ workers, rounds: 4, seed, strategy });
  const { overlaps, inversions, lostUpdates, keysLeft } = report;
  const wrong = overlaps + inversions + lostUpdates + keysLeft.length > 0;
  failed ||= wrong;
  harmed += report.harmed;
  console.log(`${wrong ? 'BROKEN' : 'held  '} ${strategy}, seed ${seed}: ${JSON.stringify(report)}`);
  seed += 1;
}
await workers.stop();
if (harmed === 0) console.log('not exercised: no holder was caught by a strike');
process.exit(failed || harmed === 0 ? 1 : 0);
