import type { Command, Option } from 'commander';
import { createPlugin } from '../kubectl/program.ts';
import { createCommandLine } from '../program.ts';

/** The programs whose command lines texts name. */
export const programs: Readonly<Record<string, (only?: string) => Promise<Command>>> = {
  portcullis: createCommandLine,
  'kubectl portcullis': createPlugin,
};

/** A command line in a text. */
export type NamedCommand = { readonly program: string; readonly words: readonly string[] };

/**
 * The problem of a command line that the program would refuse; undefined for an accepted command line.
 * @param isMention whether words may be placeholders for values, and arguments may be missing
 */
export async function refusalOf(
  { program, words }: NamedCommand,
  { isMention = false }: { readonly isMention?: boolean } = {},
): Promise<string | undefined> {
  const create = programs[program];
  if (create === undefined) return 'no such program';
  let command = await create(words[0]);
  const rest = [...words];
  for (let sub: Command | undefined; ; rest.shift()) {
    sub = command.commands.find((one) => one.name() === rest[0]);
    if (sub === undefined) break;
    command = sub;
  }
  if (isMention && (rest.length === 0 || rest.includes('--help'))) return undefined;
  if (command.commands.length > 0 || command.parent === null) return `no command ${rest[0] ?? ''}`;
  if (isMention) command.options.forEach(acceptAnyValue);
  const { operands, unknown } = command.parseOptions(rest);
  if (unknown.length > 0) return `no option ${unknown[0]}`;
  const { registeredArguments: all } = command;
  const isList = all.at(-1)?.variadic === true;
  if (operands.length > all.length && !isList) return `one argument too many: ${operands[all.length]}`;
  if (isMention) return undefined;
  if (operands.length < all.filter(({ required }) => required).length) return 'an argument is missing';
  const given = command.opts();
  const absent = command.options.find((option) => option.mandatory && given[option.attributeName()] === undefined);
  if (absent !== undefined) return `without the option ${absent.flags}`;
  return undefined;
}

/** Accepts any word, or no word, as a value, because a text replaces a value by a word in capitals or leaves it out. */
function acceptAnyValue(option: Option): void {
  delete option.parseArg;
  option.optional ||= option.required;
  option.required = false;
}
