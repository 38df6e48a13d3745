import { describe, expect, it } from 'vitest';
import { simulate } from '../simulation/simulate.js';
import { grow } from './grow.js';
import { plants } from './plants.js';

const within = 1000;

describe('the checker of the simulation', () => {
  for (const plant of plants) {
    const { mistake, law, stores, strategies, weather } = plant;
    it(`finds that ${mistake} (law ${law})`, { timeout: 120_000 }, async () => {
      const library = await grow(plant);
      let found: string | undefined;
      let seed = 0;
      while (!found && seed < within) {
        seed += 1;
        [found] = (await simulate(seed, { library, stores, strategies, weather })).violations;
        // The mistake, and not the weather, is what it found.
        if (found) expect((await simulate(seed, { stores, strategies, weather })).violations).toEqual([]);
      }
      expect(found, `not found in ${within} schedules`).toBeDefined();
      console.log(`${mistake}: seed ${seed}: ${found}`);
    });
  }
});
