import { stat } from 'node:fs/promises';
import { ConfigError } from '#kit/env/config-error';
import type { Logger } from '#kit/log/logger';
import type { Metrics } from '#kit/metrics/metrics';
import { wait } from '#kit/time/wait';
import { type Environment, readEnvironmentFiles } from './read-environment-files.ts';

/** The approved providers and limits, as they are now. */
export type LiveEnvironment = {
  current(): Environment;
  /** Called after each accepted change of the files. */
  onChange(listener: () => void): void;
};

type WatchedFiles = Parameters<typeof readEnvironmentFiles>[0];

type EnvironmentOptions = {
  readonly files: WatchedFiles;
  readonly logger: Pick<Logger, 'info' | 'error'>;
  readonly metrics: Metrics;
  readonly everyMs?: number;
};

/**
 * Reads the files of providers and limits, and reads them again when they changed. A file is polled, because a mounted
 * ConfigMap is a link that is exchanged, and read when it was the same in two polls, so that a half-written file is not
 * taken for a shorter list. A changed file with a problem, or one that has disappeared, changes nothing until it is
 * corrected.
 * @throws ConfigError when the files cannot be used at the start
 */
export async function watchEnvironment(options: EnvironmentOptions): Promise<LiveEnvironment & AsyncDisposable> {
  const { files, logger, everyMs = 500 } = options;
  const valid = options.metrics.gauge({
    name: 'portcullis_environment_files_valid',
    help: '1 if providers.yaml and limits.yaml are in use as they are; 0 if a change of them is refused.',
    labels: {},
  });
  const stop = new AbortController();
  const listeners: (() => void)[] = [];
  let taken = await stampsOf(files);
  let environment = await readEnvironmentFiles(files);
  valid.set({}, 1);

  function refuse(problems: readonly string[]): void {
    valid.set({}, 0);
    for (const problem of problems) logger.error('environment_refused', { problem });
  }

  async function take(stamps: Stamps): Promise<void> {
    const missing = lost(taken, stamps, files);
    taken = { ...stamps, existed: { ...taken.existed, ...existing(stamps) } };
    if (missing.length > 0) return refuse(missing);
    try {
      environment = await readEnvironmentFiles(files);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return refuse(error.problems);
    }
    valid.set({}, 1);
    logger.info('environment_changed', { providers: environment.approved.length });
    for (const listener of listeners) listener();
  }

  async function run(): Promise<void> {
    let before = taken;
    while (!stop.signal.aborted) {
      await wait(everyMs, stop.signal);
      const now = await stampsOf(files);
      const isStable = isSame(before, now);
      before = now;
      if (!stop.signal.aborted && isStable && !isSame(taken, now)) await take(now);
    }
  }

  const running = run();
  return {
    current: () => environment,
    onChange: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

type FileName = keyof WatchedFiles;
type Stamps = Readonly<Record<FileName, string | undefined>> & {
  /** Files that existed once: without one of them the last content stays in use. */
  readonly existed: Readonly<Partial<Record<FileName, true>>>;
};

async function stampsOf(files: WatchedFiles): Promise<Stamps> {
  const [providers, limits] = await Promise.all([stampOf(files.providers), stampOf(files.limits)]);
  const stamps = { providers, limits, existed: {} };
  return { ...stamps, existed: existing(stamps) };
}

/** Changes when the file is written or replaced; undefined without a file. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch {
    return undefined;
  }
}

function existing({ providers, limits }: Readonly<Record<FileName, string | undefined>>): Stamps['existed'] {
  return {
    ...(providers === undefined ? {} : { providers: true }),
    ...(limits === undefined ? {} : { limits: true }),
  };
}

function isSame(one: Stamps, other: Stamps): boolean {
  return one.providers === other.providers && one.limits === other.limits;
}

function lost(taken: Stamps, now: Stamps, files: WatchedFiles): readonly string[] {
  return (['providers', 'limits'] as const)
    .filter((name) => taken.existed[name] === true && now[name] === undefined)
    .map((name) => `${files[name]} is missing: restore it; to remove every entry, write an empty list`);
}
