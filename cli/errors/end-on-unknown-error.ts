import { describeError } from './describe-error.ts';
import { exitCodes } from './exit-codes.ts';

/** Ends the process with a sentence and the code 1, and never with a stack, on an error that no command caught. */
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
