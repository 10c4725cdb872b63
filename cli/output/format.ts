import { type Command, Option } from 'commander';
import { writeJson, writeText, writeYaml } from './write.ts';

/** How a result is written; `text` and `wide` are for people. */
export type Format = 'text' | 'wide' | 'json' | 'yaml';

export type OutputOptions = { readonly json?: boolean; readonly output?: Exclude<Format, 'text'> };

/** Adds `-o json|yaml|wide` and `--json`, which is short for the first of them. */
export function withOutput(command: Command): Command {
  return withJson(command).addOption(
    new Option('-o, --output <format>', 'how to write the result').choices(['json', 'yaml', 'wide']),
  );
}

export function withJson(command: Command): Command {
  return command.option('--json', 'write the result, or the error, as JSON');
}

export function formatOf({ json, output }: OutputOptions): Format {
  return json === true ? 'json' : (output ?? 'text');
}

/** Whether progress may be written between results. */
export function isForPeople(format: Format): boolean {
  return format === 'text' || format === 'wide';
}

/** Writes a value for programs, or the text of it for people. */
export function writeResult(format: Format, value: unknown, text: (isWide: boolean) => string): void {
  if (format === 'json') writeJson(value);
  else if (format === 'yaml') writeYaml(value);
  else writeText(text(format === 'wide'));
}

const jsonWords = new Set(['--json', '-ojson', '-o=json', '--output=json']);

/** Whether a command line asks for JSON, wherever it has gone wrong otherwise. */
export function asksForJson(args: readonly string[]): boolean {
  return args.some((word, at) => {
    if (jsonWords.has(word)) return true;
    return word === 'json' && ['-o', '--output'].includes(args[at - 1] ?? '');
  });
}
