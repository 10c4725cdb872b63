import { ConfigError } from './config-error.ts';
import type { Setting } from './setting.ts';

export { ConfigError } from './config-error.ts';
export { type Setting, setting } from './setting.ts';

export type Settings = Readonly<Record<string, Setting<unknown>>>;
export type Values<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

type ReadOptions = {
  /** Prefixes of the variables of this process: a variable with such a prefix that is not a setting is a problem. */
  readonly strict?: readonly string[];
  /** Base of relative paths; the working directory when absent. */
  readonly folder?: string;
};

/**
 * Reads every setting from the environment variable with its name.
 * @throws ConfigError with all problems, in the order of the settings
 */
export function readEnvironment<S extends Settings>(
  settings: S,
  env: NodeJS.ProcessEnv,
  options: ReadOptions = {},
): Values<S> {
  const folder = options.folder ?? process.cwd();
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const [name, one] of Object.entries(settings)) {
    const text = (Object.hasOwn(env, name) ? env[name] : undefined) ?? one.default;
    if (text === undefined) {
      if (!one.optional) problems.push(`${name} is missing: it must be set (${one.type}; ${one.help})`);
      continue;
    }
    const reading = text === '' ? ({ ok: false, expected: one.type } as const) : one.read(text, folder);
    if (reading.ok) values[name] = reading.value;
    else problems.push(`${name} ${shown(text, one.secret)} but must be ${reading.expected}`);
  }
  problems.push(...unknownNames(settings, env, options.strict ?? []));
  if (problems.length > 0) throw new ConfigError(problems);
  return values as Values<S>;
}

/** Maximum number of characters of an invalid value in a message. */
const SHOWN = 80;

function shown(text: string, secret: boolean): string {
  if (text === '') return 'is empty';
  if (secret) return 'is set to another value';
  // A URL may contain a password.
  if (/@/.test(text)) return 'is set to a text that contains an @';
  return `is ${JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)}`;
}

function unknownNames(settings: Settings, env: NodeJS.ProcessEnv, prefixes: readonly string[]): string[] {
  return Object.keys(env)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)) && !Object.hasOwn(settings, name))
    .sort()
    .map((name) => `${name} is not a setting of this process: remove it or correct its name`);
}

type SettingRow = {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: string | undefined;
  readonly help: string;
};

/** Rows of the generated table of settings, in the order of declaration. */
export function describeSettings(settings: Settings): SettingRow[] {
  return Object.entries(settings).map(([name, one]) => ({
    name,
    type: one.type,
    required: one.default === undefined && !one.optional,
    default: one.default,
    help: one.help,
  }));
}
