// npm test [-- vitest arguments]: every test on private servers, then the plain line "N passed, N failed".
import { explain } from './progress.mjs';
import { runTests, summary } from './run-tests.mjs';

const result = await runTests(process.argv.slice(2)).catch((error) => {
  console.error(`\n${explain(error)}`);
  return { passed: 0, failed: 1, skipped: 0 };
});
console.log(summary(result));
process.exit(result.failed === 0 ? 0 : 1);
