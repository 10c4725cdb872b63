import { CliError } from './cli-error.ts';
import { describeError } from './describe-error.ts';

/** The error of a command that had changed something before it failed: usage would say that nothing was changed. */
export function afterChange(error: unknown): unknown {
  const { exit, message } = describeError(error);
  return exit === 'usage' ? new CliError('refused', message, { cause: error }) : error;
}
