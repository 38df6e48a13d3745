// npm run faults [-- seconds [seed]]: storms of 20 s, each with a seed of its own, until the time is over.
import { storm } from '../lock/support/storm.js';

const seconds = Number(process.argv[2] ?? 120);
let seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const end = performance.now() + seconds * 1000;
let failed = false;
while (performance.now() < end) {
  const report = await storm(20_000, seed);
  const { overlaps, inversions, lostUpdates, keysLeft } = report;
  const wrong = overlaps + inversions + lostUpdates + keysLeft.length > 0;
  failed ||= wrong;
  console.log(`${wrong ? 'BROKEN' : 'held  '} seed ${seed}: ${JSON.stringify(report)}`);
  seed += 1;
}
process.exit(failed ? 1 : 0);
