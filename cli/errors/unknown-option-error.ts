import { CliError } from './cli-error.ts';

/** A command does not have an option. A program with all commands can tell which commands have it. */
export class UnknownOptionError extends CliError {
  constructor(message: string) {
    super('usage', message);
    this.name = 'UnknownOptionError';
  }
}
