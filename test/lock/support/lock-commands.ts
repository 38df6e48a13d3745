import fc, { type AsyncCommand } from 'fast-check';
import type { Call, ClientName, Held, LockModel } from './lock-model.js';
import type { Scene } from './lock-scene.js';

type Asked = Pick<LockModel, 'open' | 'waiting'>;
type Command = AsyncCommand<LockModel, Scene>;

/** One step: told in a line, possible when the model says so, judged when all that follows from it has happened. */
function command(
  told: string,
  run: (scene: Scene) => void | Promise<void>,
  possible?: (model: Asked) => boolean,
): Command {
  return {
    check: (model) => possible?.(model) ?? true,
    run: async (_model, scene) => {
      await run(scene);
      await scene.rest();
    },
    toString: () => told,
  };
}

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length]!;
const held = (model: LockModel, index: number): Held => pick(model.open, index);
const call = (model: LockModel, index: number): Call => pick(model.waiting, index);
const anyOpen = (model: Asked) => model.open.length > 0;
const anyWaiting = (model: Asked) => model.waiting.length > 0;

const client = fc.constantFrom<ClientName[]>('A', 'B');
const key = fc.constantFrom('x', 'y');
const index = fc.nat(5);
const options = fc.record({
  ttlMs: fc.constantFrom(100, 1000),
  autoRenew: fc.boolean(),
  waitMs: fc.constantFrom(50, 700, 5000),
});

/** Small values come first: shrinking ends at them. */
export const lockCommands = fc.commands<LockModel, Scene, boolean>(
  [
    fc
      .tuple(client, key, options)
      .map(([by, of, given]) =>
        command(`${by} acquires ${of} ${JSON.stringify(given)}`, (scene) => scene.ask(by, of, false, given)),
      ),
    fc
      .tuple(client, key, options)
      .map(([by, of, given]) =>
        command(`${by} tries ${of} ${JSON.stringify(given)}`, (scene) => scene.ask(by, of, true, given)),
      ),
    index.map((at) => command(`release ${at}`, (scene) => scene.release(held(scene.model, at)), anyOpen)),
    fc
      .tuple(index, fc.constantFrom(500, 2000))
      .map(([at, ms]) => command(`extend ${at} by ${ms}`, (scene) => scene.extend(held(scene.model, at), ms), anyOpen)),
    index.map((at) => command(`abort ${at}`, (scene) => scene.abort(call(scene.model, at)), anyWaiting)),
    fc.constantFrom(1, 40, 110, 400, 1500).map((ms) => command(`${ms} ms pass`, (scene) => scene.clock.advance(ms))),
    fc.tuple(client, key).map(([by, of]) => command(`${by} forces ${of}`, (scene) => scene.force(by, of))),
  ],
  { maxCommands: 40, size: 'max' },
);
