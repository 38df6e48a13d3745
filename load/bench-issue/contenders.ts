/** Who is measured with how many users. The slow ones are there for comparison: a thousand users of theirs once a run. */
export interface Contender {
  name: string;
  /** Not a strategy of the app: see instance.mjs. */
  lab?: true;
  /** 1000 users only in the first round. */
  slow?: true;
}

export const contenders: Contender[] = [
  { name: 'empty', lab: true },
  { name: 'batched' },
  { name: 'pubsub' },
  { name: 'queue' },
  { name: 'atomic' },
  { name: 'advisory', slow: true },
  { name: 'pessimistic', slow: true },
  { name: 'optimistic', slow: true },
  { name: 'spin', slow: true },
  { name: 'adaptive', slow: true },
  { name: 'redlock', slow: true },
  { name: 'textbook', lab: true, slow: true },
];

export const sizes = [64, 256, 1000] as const;
export type Size = (typeof sizes)[number];
