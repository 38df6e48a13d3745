import { describe, expect, it } from 'vitest';
import type { Library } from '../simulation/library.js';
import { pastSeeds } from '../simulation/past-seeds.js';
import { simulate } from '../simulation/simulate.js';
import { grow } from './grow.js';
import { plants, type Plant } from './plants.js';

const within = 1000;

/** The first schedule in which the planted library breaks a law and the real one does not. */
async function seedOf(plant: Plant, library: Library): Promise<{ seed: number; violation: string } | undefined> {
  const { stores, strategies, weather, adjust } = plant;
  for (let seed = 1; seed <= within; seed += 1) {
    const [violation] = (await simulate(seed, { library, stores, strategies, weather, adjust })).violations;
    if (violation === undefined) continue;
    const real = await simulate(seed, { stores, strategies, weather, adjust });
    if (real.violations.length > 0) throw new Error(`the library itself: seed ${seed}: ${real.violations.join('; ')}`);
    return { seed, violation };
  }
  return undefined;
}

describe('the checker of the simulation', () => {
  for (const plant of plants) {
    // Where the library had the mistake itself, the schedules that are kept of it must show it; they are clean without it.
    const kept = pastSeeds.filter(({ mistake }) => mistake === plant.mistake);
    const where = kept.length > 0 ? `, in seed ${kept.map(({ seed }) => seed).join(' and ')}` : '';
    it(`finds that ${plant.mistake} (law ${plant.law})${where}`, { timeout: 300_000 }, async () => {
      const library = await grow(plant);
      for (const { seed, options } of kept) {
        const { violations } = await simulate(seed, { ...options, library });
        expect(violations, `seed ${seed} no longer shows what it is kept for`).not.toEqual([]);
      }
      const shown = kept.length > 0 || (await seedOf(plant, library)) !== undefined;
      expect(shown, `not found in ${within} schedules`).toBe(true);
    });
  }

  it('knows the mistake of every schedule that is kept', () => {
    const known = new Set(plants.map(({ mistake }) => mistake));
    expect(pastSeeds.filter(({ mistake }) => mistake !== undefined && !known.has(mistake))).toEqual([]);
  });
});
