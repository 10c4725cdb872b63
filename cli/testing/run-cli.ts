import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { type ProgramEnd, runToEnd } from '#kit/testing/run-to-end';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { checkout } from '../platform/data-directory.ts';
import { runCommandLine } from '../program.ts';

type CliOptions = { input?: string; data?: string; environment?: Readonly<Record<string, string>> };
type InProcessOptions = CliOptions & {
  /** Streams that are shown as terminals. */
  readonly terminals?: readonly ('stdin' | 'stdout' | 'stderr')[];
  /** The program to run instead of `portcullis`. */
  readonly program?: typeof runCommandLine;
};

const noData = join(tmpdir(), 'no-such-data-directory');

/** Runs the command line in a child process. */
export function runCli(
  args: readonly string[],
  { input, data = noData, environment }: CliOptions = {},
): Promise<ProgramEnd> {
  return runToEnd(process.execPath, [join(checkout, 'cli/main.ts'), ...args], {
    cwd: checkout,
    environment: { ...process.env, PORTCULLIS_DATA_DIR: data, ...environment },
    input,
  });
}

/** Replaces a property of an object until disposal. */
function replaced<T extends object, K extends keyof T>(object: T, key: K, value: T[K]): Disposable {
  const before = Object.getOwnPropertyDescriptor(object, key);
  Object.defineProperty(object, key, { value, configurable: true, writable: true });
  return {
    [Symbol.dispose]() {
      if (before === undefined) delete object[key];
      else Object.defineProperty(object, key, before);
    },
  };
}

/**
 * Runs the command line in this process, which is faster than starting another process. The environment and the
 * standard streams are replaced meanwhile, so that only one command runs at a time.
 */
export async function runInProcess(
  args: readonly string[],
  { input = '', data = noData, environment, terminals = [], program = runCommandLine }: InProcessOptions = {},
): Promise<ProgramEnd> {
  const written = { stdout: '', stderr: '' };
  const collect = (stream: keyof typeof written) =>
    ((chunk: string | Uint8Array) => {
      written[stream] += Buffer.from(chunk as Uint8Array).toString();
      return true;
    }) as typeof process.stdout.write;
  using _environment = replaced(process, 'env', { ...process.env, PORTCULLIS_DATA_DIR: data, ...environment });
  using _input = replaced(process, 'stdin', Readable.from([Buffer.from(input)]) as typeof process.stdin);
  using _stdout = replaced(process.stdout, 'write', collect('stdout'));
  using _stderr = replaced(process.stderr, 'write', collect('stderr'));
  using _terminals = new DisposableStack();
  for (const name of ['stdin', 'stdout', 'stderr'] as const) {
    _terminals.use(replaced<{ isTTY: boolean }, 'isTTY'>(process[name], 'isTTY', terminals.includes(name)));
  }
  const code = await program(args);
  return { code, ...written };
}

export type Folder = Disposable & {
  readonly path: string;
  /** Writes a file and returns its path. */
  write(name: string, content: string): string;
};

/** A temporary folder that is removed on disposal. */
export function folderWithFiles(): Folder {
  const { path, [Symbol.dispose]: dispose } = temporaryFolder();
  return {
    path,
    write(name, content) {
      const file = join(path, name);
      writeFileSync(file, content);
      return file;
    },
    [Symbol.dispose]: dispose,
  };
}
