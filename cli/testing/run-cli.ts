import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProgramEnd, runToEnd } from '../../e2e/support/run-to-end.ts';
import { temporaryFolder as newFolder } from '../../e2e/support/temporary-folder.ts';
import { checkout } from '../platform/data-directory.ts';

/** Runs the command line in a child process. */
export function runCli(
  args: readonly string[],
  options: { input?: string; data?: string; environment?: Readonly<Record<string, string>> } = {},
): Promise<ProgramEnd> {
  const { input, data = join(tmpdir(), 'no-such-data-directory'), environment } = options;
  return runToEnd(process.execPath, [join(checkout, 'cli/main.ts'), ...args], {
    cwd: checkout,
    environment: { ...process.env, PORTCULLIS_DATA_DIR: data, ...environment },
    input,
  });
}

export type Folder = Disposable & {
  readonly path: string;
  /** Writes a file and returns its path. */
  write(name: string, content: string): string;
};

/** A temporary folder that is removed on disposal. */
export function temporaryFolder(): Folder {
  const { path, [Symbol.dispose]: dispose } = newFolder();
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
