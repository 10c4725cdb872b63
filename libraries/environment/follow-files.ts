import { stat } from 'node:fs/promises';
import { ConfigError } from '#kit/env/config-error';
import { fileStamp } from '#kit/files/file-stamp';
import { wait } from '#kit/time/wait';

/** The current content of some files of the environment. */
export type Followed<T> = AsyncDisposable & {
  current(): T;
  /** Called after each accepted change of the files. */
  onChange(listener: () => void): void;
};

type FollowOptions<T> = {
  readonly paths: readonly string[];
  /** Reads all files. @throws ConfigError with one sentence per problem */
  readonly read: () => Promise<T>;
  /** Called when new content takes effect, including the first content. */
  readonly onTaken: (value: T, isFirst: boolean) => void;
  /** Called with the problems of a change that is refused. */
  readonly onRefused: (problems: readonly string[]) => void;
  readonly everyMs?: number;
};

/**
 * Reads files, and reads them again when they have changed. Files are polled, because a mounted ConfigMap is a symbolic
 * link that is replaced. A file is read when two polls found the same state, so that a half-written file is not taken
 * for a shorter list. While a file is missing or has a problem, the earlier content stays in use.
 * @throws ConfigError when the files cannot be used at the start
 */
export async function followFiles<T>(options: FollowOptions<T>): Promise<Followed<T>> {
  const { paths, read, onTaken, onRefused, everyMs = 500 } = options;
  const stop = new AbortController();
  const listeners: (() => void)[] = [];
  const existed = new Set<string>();
  let taken = await stampsOf(paths);
  noteExisting(taken, existed);
  let value = await read();
  onTaken(value, true);

  async function take(stamps: Stamps): Promise<void> {
    taken = stamps;
    const missing = [...existed].filter((path) => !stamps.has(path));
    noteExisting(stamps, existed);
    if (missing.length > 0) {
      onRefused(missing.map((path) => `${path} is missing: restore it; to remove every entry, write an empty list`));
      return;
    }
    try {
      value = await read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      onRefused(error.problems);
      return;
    }
    onTaken(value, false);
    for (const listener of listeners) listener();
  }

  async function run(): Promise<void> {
    let before = taken;
    while (!stop.signal.aborted) {
      await wait(everyMs, stop.signal);
      const now = await stampsOf(paths);
      const isStable = isSame(before, now);
      before = now;
      if (!stop.signal.aborted && isStable && !isSame(taken, now)) await take(now);
    }
  }

  const running = run();
  return {
    current: () => value,
    onChange: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

/** For each existing file, by its path: a value that changes when the file is written or replaced. */
type Stamps = ReadonlyMap<string, string>;

async function stampsOf(paths: readonly string[]): Promise<Stamps> {
  const stamps = await Promise.all(paths.map(async (path) => [path, await stampOf(path)] as const));
  return new Map(stamps.flatMap(([path, stamp]) => (stamp === undefined ? [] : [[path, stamp]])));
}

async function stampOf(path: string): Promise<string | undefined> {
  try {
    return fileStamp(await stat(path, { bigint: true }));
  } catch {
    return undefined;
  }
}

function noteExisting(stamps: Stamps, existed: Set<string>): void {
  for (const path of stamps.keys()) existed.add(path);
}

function isSame(one: Stamps, other: Stamps): boolean {
  return one.size === other.size && [...one].every(([path, stamp]) => other.get(path) === stamp);
}
