import type { StrategyName } from '../options.js';
import { pubsub } from './pubsub.js';
import type { Strategy } from './strategy.js';

export const strategies: Partial<Record<StrategyName, Strategy>> = { pubsub };
