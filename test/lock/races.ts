// npm run races [-- count]: what races.spec.ts does, at the size that the promise is made for.
import { queueInOrder, raceBetweenProcesses, raceReleaseAgainstWait, type RaceReport } from './support/races.js';
import { startRedisServer } from './support/redis-server.js';
import { Workers } from './support/workers.js';

const count = Number(process.argv[2] ?? 20_000);
const seed = Date.now() % 1_000_000;
const server = await startRedisServer();
const workers = new Workers();
const { port } = server;
let failed = false;

const told = (what: string, { races, overlaps, lostWakeUps, woken }: RaceReport) => {
  failed ||= overlaps > 0 || lostWakeUps > 0 || woken === 0;
  console.log(
    `${what}: ${races} races of release against wait (seed ${seed}): ${overlaps} overlaps, ${lostWakeUps} lost wake-ups; ` +
      `${woken} were woken, the rest found the lock free`,
  );
};

for (const strategy of ['pubsub', 'queue'] as const) {
  told(`${strategy}, two clients of one process`, await raceReleaseAgainstWait(port, strategy, count, seed));
  const processes = await workers.startAll(3, { port });
  told(`${strategy}, 3 processes`, await raceBetweenProcesses(processes, strategy, count, seed));
  await workers.rest();
}
const processes = await workers.startAll(3, { port });
const { grants, inversions, overlaps, linedUp, linedUpAgain } = await queueInOrder(port, processes, count, 99);
failed ||= inversions > 0 || overlaps > 0 || linedUp === 0;
console.log(
  `queue, 3 processes: ${grants} grants, ${linedUp} after lining up, ${linedUpAgain} twice: ` +
    `${inversions} inversions of the server's order, ${overlaps} overlaps`,
);
await workers.stop();
await server.stop();
process.exit(failed ? 1 : 0);
