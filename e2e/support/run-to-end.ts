import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

export type ProgramEnd = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

type RunOptions = {
  /** Written to standard input, which then ends. */
  readonly input?: string | undefined;
  /** All of the program's environment; absent: that of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly cwd?: string;
};

/** Runs a program to its end and returns its exit code and output. */
export async function runToEnd(
  program: string,
  args: readonly string[],
  { input = '', environment = process.env, cwd }: RunOptions = {},
): Promise<ProgramEnd> {
  const child = spawn(program, args, { cwd, env: environment, stdio: 'pipe' });
  // A program that ends before it read its input explains itself on standard error.
  child.stdin.on('error', () => undefined).end(input);
  const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { code, stdout, stderr };
}
