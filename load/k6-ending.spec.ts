import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { endK6, runK6 } from './k6.js';
import type { K6 } from './k6.js';

// Alone in its file: whoever ends k6 ends it for good.
it('k6 does not outlive the command that runs it, and what was cut off is no result', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'firstcome-k6-'));
  const inFolder = (name: string) => join(folder, name);
  try {
    const standIn = `require('node:fs').writeFileSync(${JSON.stringify(inFolder('pid'))}, String(process.pid)); setInterval(() => {}, 1000)`;
    const k6: K6 = {
      command: process.execPath,
      prefix: () => ['-e', standIn, '--'],
      version: 'v0',
      source: 'a stand-in',
    };
    let ended = false;
    const input = { file: inFolder('input.json'), summaryFile: inFolder('summary.json'), logFile: inFolder('log') };
    void runK6(k6, 'coupon-flash', input).then(() => (ended = true));
    const pid = await vi.waitFor(() => {
      const written = Number(readFileSync(inFolder('pid'), 'utf8'));
      expect(written).toBeGreaterThan(0);
      return written;
    }, 10_000);
    endK6('SIGTERM');
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 10_000);
    expect(ended).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
