import { CliError } from '../errors/cli-error.ts';

/** A process of the platform ended before it was ready. `how` says how, `words` are its last lines of log. */
export class StartFailure extends CliError {
  constructor(name: string, how: string, words: string) {
    super('failed', `The process ${name} ${how} before it served${words === '' ? '.' : `: ${words}`}`);
    this.name = 'StartFailure';
  }
}
