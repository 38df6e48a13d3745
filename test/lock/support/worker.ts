// A process of its own that runs the library: asked over IPC, killed and stopped by the spec.
import { verbs } from './worker-verbs.js';

interface Request {
  id: number;
  verb: keyof typeof verbs;
  argument: never;
}

process.on('message', ({ id, verb, argument }: Request) => {
  verbs[verb](argument).then(
    (result) => process.send?.({ id, result }),
    (error: Error & { code?: string }) =>
      process.send?.({ id, error: { message: error.message, code: error.code ?? 'UNKNOWN', name: error.name } }),
  );
});
// The parent is gone: so is the reason to live.
process.once('disconnect', () => process.exit(0));
process.send?.({ id: 0, result: 'started' });
