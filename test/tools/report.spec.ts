import { describe, expect, it } from 'vitest';
import { count, summary } from '../../tools/run-tests.mjs';

const quiet = () => {};
const report = (passed: number, failed: number, files: object[] = []) => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: files,
});

describe('the last line of npm test', () => {
  it('is plain, and names skipped tests only where there are some', () => {
    expect(summary({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed');
    expect(summary({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
  });

  it('counts what passed and failed', () => {
    expect(count(report(7, 0), 0, quiet)).toEqual({ passed: 7, failed: 0, skipped: 0 });
    expect(count(report(7, 2), 1, quiet)).toEqual({ passed: 7, failed: 2, skipped: 0 });
  });

  it('counts a file that fails outside its tests as one failure', () => {
    const broken = { name: 'a.spec.ts', status: 'failed', assertionResults: [] };
    const ordinary = { name: 'b.spec.ts', status: 'failed', assertionResults: [{ status: 'failed' }] };
    expect(count(report(7, 1, [broken, ordinary]), 1, quiet).failed).toBe(2);
  });

  it('is never a success when vitest crashed, left no report, or ran no test', () => {
    expect(count(report(7, 0), 1, quiet).failed).toBe(1);
    expect(count(undefined, 'SIGKILL', quiet)).toEqual({ passed: 0, failed: 1, skipped: 0 });
    expect(count(report(0, 0), 0, quiet).failed).toBe(1);
  });
});
