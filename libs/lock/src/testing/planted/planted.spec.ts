import { describe, expect, it } from 'vitest';
import { simulate } from '../simulation/simulate.js';
import { grow } from './grow.js';
import { plants, type Plant } from './plants.js';

const within = 1000;

/** The first schedule in which the planted library breaks a law and the real one does not. */
async function seedOf(plant: Plant): Promise<{ seed: number; violation: string } | undefined> {
  const { stores, strategies, weather, adjust } = plant;
  const library = await grow(plant);
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
    it(`finds that ${plant.mistake} (law ${plant.law})`, { timeout: 300_000 }, async () => {
      const found = await seedOf(plant);
      expect(found, `not found in ${within} schedules`).toBeDefined();
    });
  }
});
