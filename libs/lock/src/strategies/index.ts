import type { StrategyName } from '../options.js';
import { adaptive } from './adaptive.js';
import { pubsub } from './pubsub.js';
import { queue } from './queue.js';
import { spin } from './spin.js';
import type { Strategy } from './strategy.js';

export const strategies: Record<StrategyName, Strategy> = { pubsub, spin, adaptive, queue };
