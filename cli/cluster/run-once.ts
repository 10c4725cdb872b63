import { ConfigError } from '#kit/env/read-environment';
import { describeError } from '../errors/describe-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';

/** Runs a program to its end. An error is reported as one sentence on standard error and by the exit code. */
export async function runOnce(name: string, program: () => Promise<void>): Promise<void> {
  try {
    await program();
  } catch (error) {
    if (error instanceof ConfigError) {
      for (const problem of error.problems) process.stderr.write(`${name}: ${problem}\n`);
      process.exitCode = exitCodes.usage.code;
      return;
    }
    const { exit, message } = describeError(error);
    process.stderr.write(`${name}: ${message}\n`);
    process.exitCode = exitCodes[exit].code;
  }
}
