import { type Command, Option } from 'commander';
import { paintAlarms } from './colour.ts';
import { writeJson, writeText, writeYaml } from './write.ts';

/** Output format; `text` and `wide` are tables and sentences. */
type Format = 'text' | 'wide' | 'json' | 'yaml';

export type OutputOptions = { readonly json?: boolean; readonly output?: Exclude<Format, 'text'> };

/** Adds `-o json|yaml|wide` and `--json`, the short form of `-o json`. */
export function withOutput(command: Command): Command {
  return withJson(command).addOption(
    new Option('-o, --output <format>', 'output format').choices(['json', 'yaml', 'wide']),
  );
}

export function withJson(command: Command): Command {
  return command.option('--json', 'write the result, or the error, as JSON');
}

export function formatOf({ json, output }: OutputOptions): Format {
  return json === true ? 'json' : (output ?? 'text');
}

/** Whether progress is written as well as the result. */
export function isForPeople(format: Format): boolean {
  return format === 'text' || format === 'wide';
}

/** Writes the value as JSON or YAML, or its text. */
export function writeResult(format: Format, value: unknown, text: (isWide: boolean) => string): void {
  if (format === 'json') writeJson(value);
  else if (format === 'yaml') writeYaml(value);
  else writeText(paintAlarms(text(format === 'wide')));
}

const jsonWords = new Set(['--json', '-ojson', '-o=json', '--output=json']);

/** Whether a command line asks for JSON, even if the rest of it is invalid. */
export function asksForJson(args: readonly string[]): boolean {
  return args.some((word, at) => {
    if (jsonWords.has(word)) return true;
    return word === 'json' && ['-o', '--output'].includes(args[at - 1] ?? '');
  });
}
