import { type Command, InvalidArgumentError } from 'commander';

/** Timeout in seconds; undefined if the command does not wait. */
export type WaitOption = { readonly wait?: number };

const defaultSeconds = 60;

export function withWait(
  command: Command,
  description = 'wait until every ready gateway replica has applied it (default: 60 s)',
): Command {
  return command.option('--wait [seconds]', description, readSeconds).hook('preAction', (_, action) => {
    if (action.getOptionValue('wait') === true) action.setOptionValue('wait', defaultSeconds);
  });
}

function readSeconds(text: string): number {
  const seconds = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (seconds < 1) throw new InvalidArgumentError('It must be a whole number of seconds from 1 to 99999.');
  return seconds;
}
