import type { Command, Option } from 'commander';

/** An unfinished command line, parsed. */
export type PartialLine = {
  readonly command: Command;
  /** Words that are neither options nor command names. */
  readonly operands: readonly string[];
  /** Values by attribute name; empty for an option without a value. */
  readonly options: Readonly<Record<string, string>>;
  /** The option whose value is being typed. */
  readonly open: Option | undefined;
  /** The typed part of the last word. */
  readonly last: string;
};

/** Parses a command line up to its last word and ignores errors in it. */
export function readLine(program: Command, words: readonly string[]): PartialLine {
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

/** The options that name a service and its caller, as far as they are typed. */
export function callerOf({ options }: PartialLine): {
  readonly tenant: string;
  readonly data?: string;
  readonly server?: string;
  readonly tokenFile?: string;
  readonly as?: string;
} {
  const { tenant = 'default', data, server, tokenFile, as } = options;
  const named = Object.entries({ data, server, tokenFile, as }).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(named), tenant };
}
