import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

export interface DefinedCode {
  code: string;
  status: number;
  detail: string;
  retryable: boolean;
}

// Every table of errors lives in a file `…errors.ts` or `problem(s).ts`, as an export whose name says so.
const files = ['apps', 'libs'].flatMap((root) =>
  readdirSync(root, { withFileTypes: true, recursive: true })
    .filter(({ name }) => /(errors|problems?)\.ts$/.test(name))
    .map(({ parentPath, name }) => `${parentPath}/${name}`),
);
const load = (file: string): Promise<Record<string, Record<string, DefinedCode>>> => import(pathToFileURL(file).href);
const modules = await Promise.all(files.map(load));

/** All errors that any app or library defines. */
export const definedCodes: DefinedCode[] = modules
  .flatMap((module) => Object.entries(module).filter(([name]) => /(Errors|Problems)$/.test(name)))
  .flatMap(([, table]) => Object.values(table));
