import { type Command, Option } from 'commander';

export type FileOption = { readonly filename?: readonly string[] };

/** Adds `-f`, which can be repeated. */
export function withFiles(command: Command, { isRequired = false } = {}): Command {
  const option = new Option('-f, --filename <path>', 'a file, a folder, or - for standard input');
  option.argParser((path: string, before: readonly string[] = []) => [...before, path]);
  return command.addOption(isRequired ? option.makeOptionMandatory() : option);
}
