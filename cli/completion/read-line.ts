import type { Command, Option } from 'commander';

/** Where on a command line a person is, in the middle of writing it. */
export type Position = {
  readonly command: Command;
  /** Words that are no options and no names of commands. */
  readonly operands: readonly string[];
  /** Values of options by the name that a program knows them by; empty for those that take none. */
  readonly options: Readonly<Record<string, string>>;
  /** The option whose value is being written. */
  readonly open: Option | undefined;
  /** What stands of the word that is being written. */
  readonly last: string;
};

/** Reads a command line up to its last word, as the parser would; what is wrong in it is passed over. */
export function readLine(program: Command, words: readonly string[]): Position {
  let command = program;
  let open: Option | undefined;
  const operands: string[] = [];
  const options: Record<string, string> = {};
  for (const word of words.slice(0, -1)) {
    if (open !== undefined) {
      options[open.attributeName()] = word;
      open = undefined;
      continue;
    }
    if (word.startsWith('-') && word.length > 1) {
      const [flag = '', value] = word.split(/=(.*)/s, 2);
      const option = command.options.find(({ long, short }) => flag === long || flag === short);
      if (option === undefined) continue;
      if (value === undefined && option.required) open = option;
      else options[option.attributeName()] = value ?? '';
      continue;
    }
    const sub = operands.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (sub === undefined) operands.push(word);
    else command = sub;
  }
  return { command, operands, options, open, last: words.at(-1) ?? '' };
}
