// npm run races [-- count]: what races.spec.ts does, at the size that the promise is made for.
import { queueInOrder, raceReleaseAgainstWait } from './support/races.js';
import { startRedisServer } from './support/redis-server.js';

const count = Number(process.argv[2] ?? 20_000);
const seed = Date.now() % 1_000_000;
const server = await startRedisServer();
let failed = false;
for (const strategy of ['pubsub', 'queue'] as const) {
  const { races, overlaps, lostWakeUps, woken } = await raceReleaseAgainstWait(server.port, strategy, count, seed);
  failed ||= overlaps > 0 || lostWakeUps > 0 || woken === 0;
  console.log(
    `${strategy}: ${races} races of release against wait (seed ${seed}): ${overlaps} overlaps, ${lostWakeUps} lost wake-ups; ` +
      `${woken} were woken, the rest found the lock free`,
  );
}
const { grants, inversions, linedUp, linedUpAgain } = await queueInOrder(server.port, count, 100);
failed ||= inversions > 0 || linedUp === 0;
console.log(
  `queue: ${grants} grants, ${linedUp} after lining up, ${linedUpAgain} twice: ${inversions} inversions of the server's order`,
);
await server.stop();
process.exit(failed ? 1 : 0);
