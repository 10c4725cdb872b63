import { type RunEnd, runProcess } from '#kit/process/run-child';

export type ProgramEnd = Omit<RunEnd, 'timedOut'>;

type RunOptions = {
  /** Text for the program's standard input, which then ends. */
  readonly input?: string | undefined;
  /** All environment variables of the program; by default those of this process. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly cwd?: string;
};

const maxOutputBytes = 256 * 1_048_576;

/** Runs a program to its end and returns its exit code and output. */
export async function runToEnd(
  program: string,
  args: readonly string[],
  { input, environment: env = process.env, cwd }: RunOptions = {},
): Promise<ProgramEnd> {
  const { code, stdout, stderr } = await runProcess([program, ...args], { input, env, cwd, maxOutputBytes });
  return { code, stdout, stderr };
}
