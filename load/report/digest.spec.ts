import { describe, expect, it } from 'vitest';
import { sampleBlock, sampleRun } from '../../test/load/sample-run.js';
import { adviceOf } from './choosing.js';
import { digest } from './digest.js';
import { headline } from './headline.js';

const rounds = [1, 2, 3, 4, 5];
const flash = (...strategies: string[]) =>
  strategies.flatMap((strategy) => rounds.map((round) => sampleBlock('coupon-flash', strategy, round)));
const texts = (blocks: ReturnType<typeof flash>) => headline(digest(blocks)).map(({ text }) => text);

const whole = sampleRun(1);

describe('what is said of a run', () => {
  it('begins with the plain statement where it beats the locks', () => {
    const [first] = texts(flash('atomic', 'spin', 'pubsub'));
    expect(first).toMatch(/^One plain conditional statement \(atomic\) sold out in .* it beat 1 of 2 .*\(spin\)/);
    expect(first).toContain('no measurable difference to pubsub');
  });

  it('claims no likeness from rounds that are too few to show a difference', () => {
    const two = flash('atomic', 'pubsub').filter(({ round }) => round <= 2);
    expect(texts(two)[0]).toContain('too few rounds to compare it with pubsub');
    expect(texts(two)[0]).not.toContain('no measurable difference');
  });

  it('says that it beat every lock where it did, and names each', () => {
    const slow = ['spin', 'adaptive', 'redlock'];
    const blocks = flash('atomic', ...slow);
    expect(texts(blocks)[0]).toMatch(/: it beat 3 of 3 ways of taking turns \(spin, adaptive, redlock\)\.$/);
  });

  it('begins with what broke where something did, and does not recommend it', () => {
    const blocks = flash('atomic', 'spin', 'batched');
    blocks[0] = { ...blocks[0]!, verdict: 'breach', reasons: ['OVERSOLD: 301 of 300'] };
    const digested = digest(blocks);
    expect(headline(digested)[0]).toEqual({
      tone: 'bad',
      text: expect.stringContaining('Not everything was right: atomic') as string,
    });
    expect(digested.scenarios['coupon-flash']!.find(({ strategy }) => strategy === 'atomic')).toMatchObject({
      verdict: 'breach',
      reasons: ['OVERSOLD: 301 of 300'],
    });
    expect(adviceOf(digested).map(({ take }) => take)).not.toContain('`atomic`');
  });

  it('figures no block whose measurement was refused', () => {
    const blocks = flash('atomic');
    blocks[4] = { ...blocks[4]!, verdict: 'refused', figures: { ...blocks[4]!.figures, soldOutMs: 1 } };
    const [atomic] = digest(blocks).scenarios['coupon-flash']!;
    expect(atomic).toMatchObject({ rounds: 4, verdict: 'refused' });
    expect(atomic!.soldOutMs!.low).toBeGreaterThan(10);
  });

  it('says nothing of what was not measured: an empty metric is absent, not 0', () => {
    const [atomic] = digest(flash('atomic').map((block) => ({ ...block, figures: { ...block.figures, latency: {}, soldOutMs: undefined } }))).scenarios['coupon-flash']!; // prettier-ignore
    expect(atomic!.servedP99).toBeUndefined();
    expect(atomic!.soldOutMs).toBeUndefined();
    expect(atomic!.perThousand!.transactions).toBeUndefined();
    expect(texts([])).toEqual([]);
  });

  it('shows what redlock cost in Redis only where its own servers were counted', () => {
    const costs = (redisServers?: number) =>
      digest(
        flash('redlock', 'pubsub').map((block) => {
          const { redisServers: _, ...cost } = block.cost;
          return { ...block, cost: { ...cost, ...(redisServers !== undefined && { redisServers }) } };
        }),
      ).scenarios['coupon-flash']!.map(({ perThousand }) => perThousand!.redisCommands !== undefined);
    expect(costs()).toEqual([true, false]);
    expect(costs(4)).toEqual([true, true]);
  });

  it('says how long the crowd itself took to come: until there were as many as coupons', () => {
    const [atomic] = digest(flash('atomic')).scenarios['coupon-flash']!;
    const [block] = flash('atomic');
    const [steady, burst] = ['steady', 'burst'].map((wanted) => block!.offered.find(({ name }) => name === wanted)!);
    expect(atomic!.crowdMs).toBeCloseTo(((block!.supply! - steady!.rate * steady!.seconds) / burst!.rate) * 1000);
    expect(texts(flash('atomic', 'spin'))[0]).toMatch(/of which the crowd itself took [\d.]+ s to come/);
  });

  it('tells who did not sell out from who was not measured in the same round', () => {
    const none = flash('spin').map((block) => ({ ...block, figures: { ...block.figures, soldOutMs: undefined } }));
    const other = flash('pubsub').map((block) => ({ ...block, round: block.round + 5 }));
    expect(digest([...flash('atomic'), ...none, ...other]).againstAtomic).toEqual([
      { strategy: 'spin', why: 'not sold out' },
      { strategy: 'pubsub', why: 'no common round' },
    ]);
  });

  it('names as first nobody who cannot be told from the others', () => {
    const first = texts(flash('atomic', 'pubsub', 'spin')).find((text) => text.startsWith('Sold out first'));
    expect(first).toMatch(/^Sold out first: \w+, in [\d.]+ s \(no measurable difference to \w+\); last: spin/);
  });

  it('tells the knee and the latency at every load that was offered', () => {
    const { capacity } = digest(whole.blocks);
    const batched = capacity.find(({ strategy }) => strategy === 'batched')!;
    const spin = capacity.find(({ strategy }) => strategy === 'spin')!;
    expect(batched.knee!.mid).toBeGreaterThan(spin.knee!.mid);
    expect(spin.climb.map(({ rate }) => rate)).toEqual([50, 100, 200, 400, 800]);
    expect(spin.curve).toHaveLength(5);
  });

  it('backs every line of advice with a figure and its raw blocks', () => {
    const advice = adviceOf(digest(whole.blocks));
    expect(advice.length).toBeGreaterThan(8);
    for (const { because, blocks } of advice) {
      expect(because).toMatch(/\d/);
      expect(blocks.length).toBeGreaterThan(0);
    }
    // Three stand at the last load that was tried: none of them is called the best alone, and the simplest is taken.
    expect(advice[0]!.take).toBe('`atomic`');
    expect(advice[0]!.because).toMatch(/not told apart from it: .*pessimistic/);
  });

  it('never advises what is there to show what goes wrong, even where nothing else was measured', () => {
    const situations = (strategy: string) =>
      adviceOf(
        digest(
          whole.blocks.map((block) =>
            block.scenario === 'order-multi-item'
              ? { ...block, strategy, cost: { ...block.cost, deadlocks: 0 } }
              : block,
          ),
        ),
      ).map(({ situation }) => situation);
    expect(situations('sorted')).toContain('Baskets of several options that many want');
    expect(situations('unsorted')).not.toContain('Baskets of several options that many want');
  });
});
