import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { completeWords } from './completion/complete-words.ts';
import { createLookUp } from './completion/look-up.ts';
import { completeWord, directives } from './completion/shell-scripts.ts';
import { describeError } from './errors/describe-error.ts';
import { type ExitName, exitCodes } from './errors/exit-codes.ts';
import { asksForJson } from './output/format.ts';
import { writeText } from './output/write.ts';
import { checkout } from './platform/data-directory.ts';
import type { ResourceSource } from './resources/resource-source.ts';

type ProgramText = { readonly name: string; readonly description: string };
type AddCommand = (program: Command) => void;

/** A command line with its commands, its help, its exit codes and its version. */
export function createProgram({ name, description }: ProgramText, commands: readonly AddCommand[]): Command {
  const program = new Command(name)
    .description(description)
    .version(readVersion(), '-V, --version', 'print the version')
    .configureOutput({ outputError: (text, write) => write(`portcullis: ${parserSentence(text)}\n`) })
    .showHelpAfterError('Add --help to see the usage.')
    .helpCommand('help [command]', 'show the usage of a command')
    .addHelpText('after', exitCodeHelp())
    .exitOverride();
  for (const add of commands) add(program);
  return program;
}

/** Runs one command line. An error is written as one sentence, or as one JSON object with --json. @returns the exit code */
export async function runProgram(
  create: () => Command,
  args: readonly string[],
  source: ResourceSource,
): Promise<number> {
  const asJson = asksForJson(args);
  try {
    const program = create();
    if (args[0] === completeWord) {
      const line = withLeadingOptions(program, source, args.slice(1));
      const { words, files } = await completeWords(program, line, createLookUp(source));
      writeText([...words, directives[files]].join('\n'));
      return exitCodes.ok.code;
    }
    if (asJson) silenceParser(program);
    await program.parseAsync(withLeadingOptions(program, source, args), { from: 'user' });
    return exitCodes.ok.code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(describeError(error), asJson);
    if (error.exitCode === 0) return exitCodes.ok.code;
    // Without --json, the parser has already printed the error message.
    return asJson ? fail({ exit: 'usage', message: usageSentence(error) }, asJson) : exitCodes.usage.code;
  }
}

function fail({ exit, message }: { readonly exit: ExitName; readonly message: string }, asJson: boolean): number {
  const text = asJson ? JSON.stringify({ error: { code: exit, message } }) : `portcullis: ${message}`;
  process.stderr.write(`${text}\n`);
  return exitCodes[exit].code;
}

/** With --json, only the error object is written to standard error. */
function silenceParser(command: Command): void {
  command.configureOutput({ writeErr: () => undefined });
  for (const sub of command.commands) silenceParser(sub);
}

function usageSentence({ code, message }: CommanderError): string {
  return code === 'commander.help' ? 'A command is missing: --help lists them.' : parserSentence(message);
}

/** The parser writes `error: unknown option '--x'`. */
function parserSentence(text: string): string {
  const message = text.trim().replace(/^error: /, '');
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.?!)]$/.test(sentence) ? sentence : `${sentence}.`;
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };
  return version;
}

function exitCodeHelp(): string {
  const rows = Object.entries(exitCodes).map(([name, { code, meaning }]) => `  ${code}\t${name}: ${meaning}`);
  return `\nExit codes:\n${rows.join('\n')}`;
}

/**
 * Moves options of the source that stand before the command, as in `-n team status`, behind it, where the parser takes
 * them. All other words keep their place.
 */
function withLeadingOptions(program: Command, source: ResourceSource, args: readonly string[]): string[] {
  const { options } = source.addOptions(new Command());
  let at = 0;
  while (at < args.length) {
    const [flag = '', value] = (args[at] ?? '').split(/=(.*)/s, 2);
    const option = options.find(({ long, short }) => flag === long || flag === short);
    if (option === undefined) break;
    at += option.required && value === undefined ? 2 : 1;
  }
  let end = at;
  let command: Command | undefined = program;
  while (at > 0 && command !== undefined) {
    command = command.commands.find((sub) => sub.name() === args[end]);
    if (command !== undefined) end += 1;
  }
  return end === at ? [...args] : [...args.slice(at, end), ...args.slice(0, at), ...args.slice(end)];
}
