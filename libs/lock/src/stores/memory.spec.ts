import { describe, it } from 'vitest';
import { lockContract } from '../testing/contract.js';
import { memoryStore } from './memory.js';

const store = memoryStore();
lockContract({ describe, it }, 'memory', { store: () => store, strategies: ['pubsub', 'spin', 'adaptive', 'queue'] });
