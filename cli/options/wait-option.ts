import type { Command } from 'commander';
import { wholeNumber } from './whole-number.ts';

/** Timeout in seconds; undefined if the command does not wait. */
export type WaitOption = { readonly wait?: number };

const defaultSeconds = 60;

export function withWait(
  command: Command,
  description = 'wait until every ready gateway replica has applied it (default: 60 s)',
): Command {
  return command
    .option('--wait [seconds]', description, wholeNumber(1, 99_999, 'seconds'))
    .hook('preAction', (_, action) => {
      if (action.getOptionValue('wait') === true) action.setOptionValue('wait', defaultSeconds);
    });
}
