import type { Command } from 'commander';
import { wholeNumber } from './whole-number.ts';

/** Timeout in seconds; undefined if the command does not wait. */
export type WaitOption = { readonly wait?: number };

const defaultSeconds = 60;

export function withWait(
  command: Command,
  description = 'wait until every ready gateway replica has applied it (default: 60 s)',
): Command {
  return withSeconds(command.option('--wait [seconds]', description, readSeconds));
}

/** Adds the options for a command that waits even without the option. */
export function withDefaultWait(command: Command, description: string): Command {
  return withSeconds(command.option('--wait [seconds]', description, readSeconds, defaultSeconds));
}

const readSeconds = wholeNumber(1, 99_999, 'seconds');

/** The option without a value is true. */
function withSeconds(command: Command): Command {
  return command.hook('preAction', (_, action) => {
    if (action.getOptionValue('wait') === true) action.setOptionValue('wait', defaultSeconds);
  });
}
