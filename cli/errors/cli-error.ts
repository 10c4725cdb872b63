import type { ExitName } from './exit-codes.ts';

/** A command failed. The message is one sentence that names the place. */
export class CliError extends Error {
  readonly exit: ExitName;

  constructor(exit: ExitName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.exit = exit;
  }
}
