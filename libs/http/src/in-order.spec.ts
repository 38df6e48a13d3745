import { expect, it } from 'vitest';
import { InOrder } from './in-order.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('lets nobody who was quick overtake who came before', async () => {
  const order = new InOrder();
  const out: string[] = [];
  let finish = () => {};
  const slow = new Promise<void>((resolve) => (finish = resolve));
  const all = [
    order.after(slow).then(() => out.push('first')),
    order.after(Promise.resolve()).then(() => out.push('second')),
    order.after(Promise.reject(new Error('refused'))).catch(() => out.push('third')),
    order.after(Promise.resolve()).then(() => out.push('fourth')),
  ];
  await turn();
  expect(out).toEqual([]);
  expect(order.idle).toBe(false);
  finish();
  await Promise.all(all);
  expect(out).toEqual(['first', 'second', 'third', 'fourth']);
});

it('is idle when the last of them is through, so that a known token waits for nothing', async () => {
  const order = new InOrder();
  expect(order.idle).toBe(true);
  await expect(order.after(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  await turn();
  expect(order.idle).toBe(true);
});
