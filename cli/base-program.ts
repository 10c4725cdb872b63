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

export type ProgramText = { readonly name: string; readonly description: string };
export type AddCommand = (program: Command) => void;

/** A command line with its commands, its help, its exit codes and its version. */
export function createProgram({ name, description }: ProgramText, commands: readonly AddCommand[]): Command {
  const program = new Command(name)
    .description(description)
    .version(readVersion(), '-V, --version', 'print the version')
    .showHelpAfterError('Add --help to see how it is used.')
    .helpCommand('help [command]', 'show how a command is used')
    .addHelpText('after', exitCodeHelp())
    .exitOverride();
  for (const add of commands) add(program);
  return program;
}

/** Runs one command line; every error is one sentence, or one JSON object where JSON is asked for. @returns the exit code */
export async function runProgram(
  create: () => Command,
  args: readonly string[],
  source: ResourceSource,
): Promise<number> {
  const asJson = asksForJson(args);
  try {
    const program = create();
    if (args[0] === completeWord) {
      const { words, files } = await completeWords(program, args.slice(1), createLookUp(source));
      writeText([...words, directives[files]].join('\n'));
      return exitCodes.ok.code;
    }
    if (asJson) silenceParser(program);
    await program.parseAsync(args, { from: 'user' });
    return exitCodes.ok.code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(describeError(error), asJson);
    if (error.exitCode === 0) return exitCodes.ok.code;
    // Otherwise the parser has written its own sentence.
    return asJson ? fail({ exit: 'usage', message: parserSentence(error) }, asJson) : exitCodes.usage.code;
  }
}

function fail({ exit, message }: { readonly exit: ExitName; readonly message: string }, asJson: boolean): number {
  const text = asJson ? JSON.stringify({ error: { code: exit, message } }) : `portcullis: ${message}`;
  process.stderr.write(`${text}\n`);
  return exitCodes[exit].code;
}

/** The one object on standard error is the error. */
function silenceParser(command: Command): void {
  command.configureOutput({ writeErr: () => undefined });
  for (const sub of command.commands) silenceParser(sub);
}

function parserSentence({ code, message }: CommanderError): string {
  if (code === 'commander.help') return 'A command is missing: --help lists them.';
  return message.replace(/^error: /, '');
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };
  return version;
}

function exitCodeHelp(): string {
  const rows = Object.entries(exitCodes).map(([name, { code, meaning }]) => `  ${code}\t${name}: ${meaning}`);
  return `\nExit codes:\n${rows.join('\n')}`;
}
