import { describeError } from './describe-error.ts';
import { exitCodes } from './exit-codes.ts';

/** Exits with a sentence and code 1, never with a stack, on an uncaught error. */
export function endOnUnknownError(): void {
  process.on('uncaughtException', (error) => {
    process.stderr.write(`portcullis: ${describeError(error).message}\n`);
    process.exit(exitCodes.failed.code);
  });
  // A reader that closes the pipe, such as head, is not an error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
