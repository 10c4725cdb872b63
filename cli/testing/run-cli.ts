import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { checkout } from '../platform/data-directory.ts';

export type CliEnd = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** Runs the command line in a child process. */
export async function runCli(
  args: readonly string[],
  options: { input?: string; data?: string; environment?: Readonly<Record<string, string>> } = {},
): Promise<CliEnd> {
  const child = spawn(process.execPath, [join(checkout, 'cli/main.ts'), ...args], {
    cwd: checkout,
    env: {
      ...process.env,
      PORTCULLIS_DATA_DIR: options.data ?? join(tmpdir(), 'no-such-data-directory'),
      ...options.environment,
    },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}

export type Folder = Disposable & {
  readonly path: string;
  /** Writes a file and returns its path. */
  write(name: string, content: string): string;
};

/** A temporary folder that is removed on disposal. */
export function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'portcullis-cli-'));
  return {
    path,
    write(name, content) {
      const file = join(path, name);
      writeFileSync(file, content);
      return file;
    },
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
