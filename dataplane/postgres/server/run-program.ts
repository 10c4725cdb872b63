import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { childEnvironment } from '#kit/process/config';
import { type Account, workingFolder } from './account.ts';
import type { Binaries } from './binaries.ts';

export type ServerDirectory = {
  readonly binaries: Binaries;
  readonly account: Account | undefined;
  /** The data folder: the working folder of the program, given to it by -D. */
  readonly data: string;
};

type Arguments = {
  /** Before and after that of the data folder. */
  readonly first?: readonly string[];
  readonly last: readonly string[];
  readonly stdin?: 'ignore' | 'pipe';
};

/** Starts a program of PostgreSQL in its own group, so that Ctrl-C in a terminal does not reach it before us. */
export function startProgram(
  name: 'postgres' | 'initdb',
  { binaries, account, data }: ServerDirectory,
  { first = [], last, stdin = 'ignore' }: Arguments,
): ChildProcess {
  return spawn(join(binaries.home, 'bin', name), [...first, '-D', workingFolder(data, account), ...last], {
    cwd: data,
    detached: true,
    stdio: [stdin, 'ignore', 'pipe'],
    env: { PATH: childEnvironment()['PATH'], TZ: 'UTC', LC_ALL: 'C' },
    ...account,
  });
}

/** Runs a program to its end; its last words on standard error are for people. */
export async function runProgram(
  name: 'initdb',
  directory: ServerDirectory,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly lastWords: string }> {
  const child = startProgram(name, directory, { last: args });
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-500);
  });
  const [code] = await once(child, 'close');
  return { code, lastWords: lastWords.trim().replaceAll(/\s+/g, ' ') };
}
