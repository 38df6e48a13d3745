export * from './fields.js';
export * from './read-environment.js';
export * from './redis.js';
