import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const sources = ['apps', 'libs', 'test', 'tools', 'load']
  .flatMap((root) => filesUnder(root))
  .map((path) => ({ path, text: readFileSync(path, 'utf8') }));

function filesUnder(folder: string): string[] {
  const entries = readdirSync('.').includes(folder)
    ? readdirSync(folder, { withFileTypes: true, recursive: true })
    : [];
  return entries
    .filter((entry) => entry.isFile() && /\.(ts|mjs|js)$/.test(entry.name))
    .map((entry) => `${entry.parentPath}/${entry.name}`)
    .filter((path) => !/node_modules|\/(dist|results)\//.test(path));
}

const imports = (text: string): string[] =>
  [...text.matchAll(/(?:from|import|import\()\s*['"]([\w@#./][^'"\s]*)['"]/g)].map(([, specifier]) => specifier!);

/** `file imports what it may not`, for every file under a folder. */
const offences = (under: RegExp, forbidden: (specifier: string, path: string) => boolean): string[] =>
  sources
    .filter(({ path }) => under.test(path))
    .flatMap(({ path, text }) =>
      imports(text)
        .filter((each) => forbidden(each, path))
        .map((each) => `${path} imports ${each}`),
    );

/** How many folders a relative import climbs past the top of its app or lib. */
const leaves = (specifier: string, path: string): boolean => {
  const climbs = specifier.split('/').filter((part) => part === '..').length;
  return climbs > path.split('/').length - 3;
};

const peers = /^(redlock|redis-semaphore|redlock-universal|@verrou\/core.*)$/;

describe('the boundaries of the repository', () => {
  it('has sources to look at', () => {
    expect(sources.length).toBeGreaterThan(50);
  });

  it('apps never import apps: what leaves an app is a library by its alias', () => {
    expect(offences(/^apps\//, leaves)).toEqual([]);
  });

  it('libs import neither apps nor other libs', () => {
    expect(
      offences(/^libs\//, (specifier, path) => specifier.startsWith('@firstcome/') || leaves(specifier, path)),
    ).toEqual([]);
  });

  it('libs/lock stands alone: Node, its two peers and nothing else of ours', () => {
    const allowed =
      /^(\.|node:|ioredis$|pg$|@nestjs\/|prom-client$|@opentelemetry\/api$|vitest$|fast-check$|rxjs|reflect-metadata$)/;
    const foreign = (specifier: string) => !allowed.test(specifier) && !peers.test(specifier);
    expect(offences(/^libs\/lock\//, foreign)).toEqual([]);
  });

  it('the libraries that the lock is measured beside are imported by its benchmark, which is not packed, and by nobody else', () => {
    const elsewhere = /^(?!libs\/lock\/bench\/contenders\/)/;
    expect(offences(elsewhere, (specifier) => peers.test(specifier))).toEqual([]);
    expect(offences(/^libs\/lock\/bench\//, (specifier) => peers.test(specifier)).length).toBe(5);
  });

  it('process.env is read in the config.ts of each app, in tools and in the support of the tests only', () => {
    const readers = sources.filter(
      ({ path, text }) => /process\.env\b/.test(text) && path !== 'test/conventions/boundaries.spec.ts',
    );
    const allowed = /^(apps\/[a-z]+\/src\/config\.ts|tools\/.+|test\/([a-z]+\/)?support\/.+|load\/.+)$/;
    expect(readers.map(({ path }) => path).filter((path) => !allowed.test(path))).toEqual([]);
  });

  it('no folder is called common, core, shared or utils', () => {
    expect(sources.map(({ path }) => path).filter((path) => /\/(common|core|shared|utils)\//.test(path))).toEqual([]);
  });
});
