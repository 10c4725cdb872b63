import { type Command, InvalidArgumentError, Option } from 'commander';
import { group } from '#resources/kinds';
import { didYouMean } from '../command-line/did-you-mean.ts';
import { CliError } from '../errors/cli-error.ts';
import { paintAlarms } from './colour.ts';
import { formatJsonPath, type JsonPathTemplate, parseJsonPath } from './json-path.ts';
import { escapeControls, writeJson, writeText, writeYaml } from './write.ts';

/** Output format; `text` and `wide` are tables and sentences, an object is a JSONPath template. */
export type Format = 'text' | 'wide' | 'json' | 'yaml' | 'name' | JsonPathTemplate;

export type OutputOptions = { readonly json?: boolean; readonly output?: Exclude<Format, 'text'> };

const formats = ['json', 'yaml', 'wide', 'name'] as const;
const jsonPathPrefix = 'jsonpath=';

/** Adds `-o json|yaml|wide|name|jsonpath=TEMPLATE` and `--json`, the short form of `-o json`. */
export function withOutput(command: Command): Command {
  return withFormats(command, formats, readFormat);
}

/**
 * Adds the output option without the format `name`, which is refused before the command runs, because its result has no
 * names.
 */
export function withUnnamedOutput(command: Command): Command {
  return withFormats(
    command,
    formats.filter((format) => format !== 'name'),
    readUnnamedFormat,
  );
}

function withFormats(command: Command, offered: readonly string[], read: (text: string) => Format): Command {
  const option = new Option(
    '-o, --output <format>',
    `output format: ${offered.join(', ')} or ${jsonPathPrefix}TEMPLATE`,
  );
  option.argParser(read);
  return withJson(command).addOption(option);
}

/** Words that complete `-o`: those that the description of the option lists. */
export function formatWordsOf({ description }: Pick<Option, 'description'>): readonly string[] {
  return [...formats, jsonPathPrefix].filter((word) => description.includes(word));
}

export function withJson(command: Command): Command {
  return command.option('--json', 'write the result, or the error, as JSON');
}

function readFormat(text: string): Format {
  if (text.startsWith(jsonPathPrefix)) return parseJsonPath(text.slice(jsonPathPrefix.length));
  const found = formats.find((format) => format === text);
  if (found !== undefined) return found;
  throw new InvalidArgumentError(
    `It must be one of ${formats.join(', ')} or ${jsonPathPrefix}TEMPLATE.${didYouMean(text, formats)}`,
  );
}

function readUnnamedFormat(text: string): Format {
  if (text === 'name')
    throw new InvalidArgumentError(`This result has no names: choose -o json or -o ${jsonPathPrefix}….`);
  return readFormat(text);
}

export function formatOf({ json, output }: OutputOptions): Format {
  return json === true ? 'json' : (output ?? 'text');
}

/** Whether progress is written in addition to the result. */
export function isForPeople(format: Format): format is 'text' | 'wide' {
  return format === 'text' || format === 'wide';
}

/** Writes the value as JSON or YAML, its names, the values of a template, or its text. */
export function writeResult(format: Format, value: unknown, text: (isWide: boolean) => string): void {
  if (isForPeople(format)) writeText(paintAlarms(escapeControls(text(format === 'wide'))));
  else writeValue(format, value);
}

/** Writes names or ids, one on each line. */
export function writeNames(names: readonly string[]): void {
  if (names.length > 0) writeText(names.join('\n'));
}

/** Writes a value for a program. */
export function writeValue(format: Exclude<Format, 'text' | 'wide'>, value: unknown): void {
  if (format === 'json') writeJson(value);
  else if (format === 'yaml') writeYaml(value);
  else if (format === 'name') writeNames(namesOf(value));
  else writeRaw(formatJsonPath(format, value));
}

/** A template writes its own trailing line feed, as in kubectl. */
function writeRaw(text: string): void {
  process.stdout.write(text);
}

type Named = {
  readonly items?: unknown;
  readonly object?: unknown;
  readonly kind?: unknown;
  readonly name?: unknown;
  readonly metadata?: { readonly name?: unknown };
};

/** `kind.group/name` of each resource in a result. @throws CliError usage if the result is not a resource */
function namesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(namesOf);
  const { items, object, kind, name, metadata } = (value ?? {}) as Named;
  if (Array.isArray(items)) return items.flatMap(namesOf);
  if (object !== undefined) return namesOf(object);
  const own = metadata?.name ?? name;
  if (typeof kind === 'string' && typeof own === 'string') return [resourceName(kind, own)];
  throw new CliError(
    'usage',
    '-o name is for resources, and this result is not a resource: choose -o json or -o jsonpath=….',
  );
}

/** The name of a resource as kubectl writes it: `guardrailpolicy.portcullis.dev/guarded-chat`. */
export function resourceName(kind: string, name: string): string {
  return `${kind.toLowerCase()}.${group}/${name}`;
}

const jsonWords = new Set(['--json', '-ojson', '-o=json', '--output=json']);

/** Whether a command line requests JSON, even if other parts of the command line are invalid. */
export function asksForJson(args: readonly string[]): boolean {
  return args.some((word, at) => {
    if (jsonWords.has(word)) return true;
    return word === 'json' && ['-o', '--output'].includes(args[at - 1] ?? '');
  });
}

/** Writes the states of a wait to a terminal; a log or a script gets results only. */
export function waitProgressOn(
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>,
  format: Format,
): (sentence: string) => void {
  if (!stream.isTTY || !isForPeople(format)) return () => undefined;
  return (sentence) => void stream.write(`${sentence}\n`);
}
