import { CliError } from './cli-error.ts';
import { describeError } from './describe-error.ts';

/**
 * The error of a command that changed something before it failed: the code usage would mean that nothing was changed.
 */
export function afterChange(error: unknown): unknown {
  const { exit, message } = describeError(error);
  return exit === 'usage' ? new CliError('refused', message, { cause: error }) : error;
}
