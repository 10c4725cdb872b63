import { join } from 'node:path';
import { childEnvironment } from '#kit/process/config';
import { type Child, type ChildOptions, startChild } from '#kit/process/start-child';
import { type Account, workingFolder } from './account.ts';
import type { Binaries } from './binaries.ts';

export type ServerDirectory = {
  readonly binaries: Binaries;
  readonly account: Account | undefined;
  /** The data folder, which is both the working folder of the program and the value of its option -D. */
  readonly data: string;
};

type Arguments = Pick<ChildOptions, 'stdin' | 'stderr'> & {
  /** Arguments before and after the data folder's. */
  readonly first?: readonly string[];
  readonly last: readonly string[];
};

/** Starts a PostgreSQL program as a child process. */
export function startProgram(
  name: 'postgres' | 'initdb',
  { binaries, account, data }: ServerDirectory,
  { first = [], last, ...streams }: Arguments,
): Child {
  return startChild([join(binaries.home, 'bin', name), ...first, '-D', workingFolder(data, account), ...last], {
    ...streams,
    account,
    cwd: data,
    ownGroup: true,
    env: { PATH: childEnvironment()['PATH'], TZ: 'UTC', LC_ALL: 'C' },
  });
}
