import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sampleBlock, sampleRun } from '../test/load/sample-run.js';
import { countedSittings, openRun, sitDown } from './sittings.js';

const { environment } = sampleRun(1);
const later = { ...environment, commit: 'def5678', date: '2026-11-19T08:00:00.000Z', command: 'npm run compare -- --resume x' }; // prettier-ignore

describe('the folder of a run', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'firstcome-sittings-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const begin = () => openRun({ folder, resume: false, profile: 'smoke', seed: 42 });
  const goOn = (asked: Partial<Parameters<typeof openRun>[0]> = {}) => openRun({ folder, resume: true, ...asked });

  it('holds one run: another is not begun in it, and the refusal says what to do', () => {
    sitDown(begin(), environment);
    expect(begin).toThrow(`--resume ${folder} goes on with it; --into <folder> begins another one elsewhere`);
  });

  it('holds no run because a command that measured nothing has made it', () => {
    mkdirSync(join(folder, 'raw'));
    expect(begin()).toMatchObject({ profile: 'smoke', seed: 42, sittings: [] });
    expect(() => goOn()).toThrow('there is no run to go on with');
  });

  it('says how a run goes on: with its own profile and seed, and with no others', () => {
    sitDown(begin(), environment);
    expect(goOn()).toMatchObject({ profile: 'smoke', seed: 42 });
    expect(goOn({ profile: 'smoke', seed: 42 })).toMatchObject({ profile: 'smoke', seed: 42 });
    expect(() => goOn({ profile: 'standard' })).toThrow('a run of profile smoke');
    expect(() => goOn({ seed: 43 })).toThrow('a run of seed 42');
  });

  it('knows every sitting, and the environment of the first', () => {
    sitDown(begin(), environment);
    const run = sitDown(goOn(), later);
    expect(run.environment).toEqual(environment);
    expect(run.sittings.map(({ commit }) => commit)).toEqual(['abc1234', 'def5678']);
    expect(goOn().sittings).toEqual(run.sittings);
  });

  it('of the time before run.json goes on: its seed, its profile and its first sitting are what it left', () => {
    writeFileSync(join(folder, 'seed.txt'), '550962');
    expect(begin).toThrow('holds a run already');
    expect(goOn()).toMatchObject({ profile: 'standard', seed: 550_962, sittings: [] });
    expect(goOn({ profile: 'full' }).profile).toBe('full');
    writeFileSync(join(folder, 'results.json'), JSON.stringify({ ...sampleRun(1), profile: 'standard' }));
    const run = sitDown(goOn(), later);
    expect(run).toMatchObject({ profile: 'standard', seed: 550_962, environment: { commit: 'abc1234' } });
    expect(run.sittings.map(({ commit }) => commit)).toEqual(['abc1234', 'def5678']);
  });

  it('counts a block to the sitting in which it was measured, and an older one to none', () => {
    const block = (startedAt: string) => ({ ...sampleBlock('coupon-flash', 'atomic', 1), startedAt });
    const run = { sittings: [environment, later] };
    const blocks = ['2026-11-18T11:00:00.000Z', '2026-11-18T12:00:01.000Z', '2026-11-19T09:00:00.000Z', '2026-11-19T09:01:00.000Z'].map(block); // prettier-ignore
    expect(countedSittings(run, blocks)).toMatchObject([
      { commit: 'abc1234', blocks: 1 },
      { commit: 'def5678', blocks: 2 },
    ]);
  });
});
