/** The injection token of the process's one Redis client. */
export const REDIS = Symbol('redis');
