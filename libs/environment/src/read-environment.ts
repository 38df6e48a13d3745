import { readFileSync } from 'node:fs';
import type { z } from 'zod';

type Given = Record<string, string>;

/** Every mistake of the configuration at once, each with what to do about it. No value is in it: it may be a secret. */
export class ConfigError extends Error {
  constructor(
    app: string,
    readonly mistakes: string[],
  ) {
    super(
      `The configuration of ${app} has ${mistakes.length} mistake(s):\n${mistakes.map((m) => `  - ${m}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}

export interface EnvironmentRules<S extends z.ZodObject> {
  app: string;
  schema: S;
  /** Variables that may come from the file named by NAME_FILE instead, as container secrets do. */
  secrets: string[];
  /** Mistakes that only several variables together can make. */
  together?: (given: Given) => string[];
}

/** The environment as a checked object, or a ConfigError that lists all of its mistakes. */
export function readEnvironment<S extends z.ZodObject>(
  environment: Record<string, string | undefined>,
  rules: EnvironmentRules<S>,
): z.infer<S> {
  const mistakes: string[] = [];
  const given: Given = {};
  // An empty variable is what a compose file makes of an unset one.
  for (const [name, value] of Object.entries(environment)) if (value) given[name] = value;
  const unread = rules.secrets.filter((name) => !readSecretFile(name, given, mistakes));

  const parsed = rules.schema.safeParse(given);
  for (const { path, message } of parsed.error?.issues ?? []) {
    if (!unread.includes(String(path[0]))) mistakes.push(`${path.join('.')} ${message}`);
  }
  mistakes.push(...(rules.together?.(given) ?? []));
  if (!parsed.success || mistakes.length > 0) throw new ConfigError(rules.app, mistakes);
  return parsed.data;
}

/** False when the variable has a file that could not be used; the mistake is then already noted. */
function readSecretFile(name: string, given: Given, mistakes: string[]): boolean {
  const path = given[`${name}_FILE`];
  if (!path) return true;
  if (given[name]) {
    mistakes.push(`${name} and ${name}_FILE are both set: remove one`);
    return false;
  }
  try {
    given[name] = readFileSync(path, 'utf8').trim();
    return true;
  } catch (error) {
    mistakes.push(
      `${name}_FILE cannot be read (${(error as NodeJS.ErrnoException).code}): check the path and its mode`,
    );
    return false;
  }
}
