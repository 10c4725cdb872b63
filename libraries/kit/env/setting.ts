import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';

/** The value of a setting, or a fault: `expected` completes the sentence "NAME … but must be …". */
type SettingResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly expected: string };

/** One setting of a process, read from the environment variable of its name. */
export type Setting<T> = {
  /** The type of value in words, for the generated table. */
  readonly type: string;
  /** The purpose of the setting in one sentence, without its name. */
  readonly help: string;
  /** The value when the variable is absent; undefined for a required or optional setting. */
  readonly default: string | undefined;
  /** Whether the environment variable may be absent; the value is then undefined. */
  readonly optional: boolean;
  /** Whether error messages must not show the value. */
  readonly secret: boolean;
  read(text: string, folder: string): SettingResult<T>;
};

type Base<D> = { readonly help: string; readonly default?: D; readonly secret?: boolean };
export type HostPort = { readonly host: string; readonly port: number };

/** Builders of settings. A setting without `default` is required. */
export const setting = {
  /** A setting whose value is any non-empty text. */
  string: (options: Base<string>): Setting<string> => make('text', options, options.default, accept),

  /** A whole decimal number between two bounds, which are both allowed. */
  integer(options: Base<number> & { readonly min: number; readonly max: number }): Setting<number> {
    const expected = `a whole number from ${options.min} to ${options.max}`;
    return make(`whole number ${options.min} to ${options.max}`, options, numberText(options.default), (text) => {
      const value = /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN;
      return value >= options.min && value <= options.max ? { ok: true, value } : { ok: false, expected };
    });
  },

  /** A setting whose value is one of a closed list of words. */
  choice<const C extends string>(options: Base<NoInfer<C>> & { readonly choices: readonly C[] }): Setting<C> {
    const words = options.choices.join(', ');
    return make(`one of ${words}`, options, options.default, (text) => {
      const value = options.choices.find((choice) => choice === text);
      return value === undefined ? { ok: false, expected: `one of ${words}` } : { ok: true, value };
    });
  },

  /** A path, made absolute against the working folder. The path need not exist. */
  path: (options: Base<string>): Setting<string> =>
    make('path', options, options.default, (text, folder) => accept(resolve(folder, text))),

  /** The path of a file that exists and can be read. */
  file: (options: Base<string>): Setting<string> =>
    make('path of a readable file', options, options.default, (text, folder) => readableFile(resolve(folder, text))),

  /** An http or https URL without user name and password. */
  url: (options: Base<string>): Setting<URL> => make('http or https URL', options, options.default, readUrl),

  /** A setting of the form `host:port`; an IPv6 address is in brackets. Port 0 takes a free port. */
  hostPort: (options: Base<string>): Setting<HostPort> => make('host:port', options, options.default, readHostPort),

  /** Texts separated by commas: at least one, and no text twice; spaces around a text are ignored. */
  list: (options: Base<readonly string[]>): Setting<readonly string[]> =>
    make('list separated by commas', options, options.default?.join(','), readList),

  /** The given setting, but undefined when the variable is absent. Settings for protection must not be optional. */
  optional<T>(inner: Setting<T>): Setting<T | undefined> {
    return { ...inner, default: undefined, optional: true };
  },
};

function make<T>(
  type: string,
  options: Base<unknown>,
  standard: string | undefined,
  read: (text: string, folder: string) => SettingResult<T>,
): Setting<T> {
  return { type, help: options.help, default: standard, optional: false, secret: options.secret ?? false, read };
}

function accept(text: string): SettingResult<string> {
  return { ok: true, value: text };
}

function numberText(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

function readableFile(path: string): SettingResult<string> {
  const expected = 'the path of a readable file';
  try {
    if (!statSync(path).isFile()) return { ok: false, expected };
    accessSync(path, constants.R_OK);
    return { ok: true, value: path };
  } catch {
    return { ok: false, expected };
  }
}

function readUrl(text: string): SettingResult<URL> {
  const expected = 'an http or https URL without user name and password';
  const value = URL.parse(text);
  if (value === null || !['http:', 'https:'].includes(value.protocol)) return { ok: false, expected };
  return value.username === '' && value.password === '' ? { ok: true, value } : { ok: false, expected };
}

function readHostPort(text: string): SettingResult<HostPort> {
  const found = /^(?:\[([0-9A-Fa-f:.%]+)\]|([^\s:[\]/@]+)):(0|[1-9]\d{0,4})$/.exec(text);
  const host = found?.[1] ?? found?.[2];
  const port = Number(found?.[3]);
  if (host === undefined || port > 65_535) return { ok: false, expected: 'host:port with a port from 0 to 65535' };
  return { ok: true, value: { host, port } };
}

function readList(text: string): SettingResult<readonly string[]> {
  const items = text.split(',').map((item) => item.trim());
  const good = items.every((item) => item !== '') && new Set(items).size === items.length;
  return good ? { ok: true, value: items } : { ok: false, expected: 'texts separated by commas, none empty or twice' };
}
