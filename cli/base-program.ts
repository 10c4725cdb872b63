import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { CliCommand } from './command-line/cli-command.ts';
import { complete, helpLayout, helpWidth, withColourOption } from './command-line/help-layout.ts';
import { completeWords } from './completion/complete-words.ts';
import { createLookUp } from './completion/look-up.ts';
import { completeWord, directives } from './completion/shell-scripts.ts';
import { describeError } from './errors/describe-error.ts';
import { type ExitName, exitCodes } from './errors/exit-codes.ts';
import { paint, usesColour } from './output/colour.ts';
import { asksForJson, withOutput } from './output/format.ts';
import { writeText } from './output/write.ts';
import { checkout } from './platform/data-directory.ts';
import type { ResourceSource } from './resources/resource-source.ts';

type ProgramText = { readonly name: string; readonly description: string };

/** A group of commands that the help lists under one heading. */
export type CommandGroup = {
  readonly heading: string;
  readonly commands: readonly ((program: Command, source: ResourceSource) => void)[];
};

/** A command line with its commands, its help, its exit codes and its version. */
export function createProgram(
  { name, description }: ProgramText,
  groups: readonly CommandGroup[],
  source: ResourceSource,
): Command {
  const program = new CliCommand(name)
    .description(description)
    .version(readVersion(), '-V, --version', 'print the version')
    .configureOutput({
      getOutHelpWidth: () => helpWidth(process.stdout),
      getErrHelpWidth: () => helpWidth(process.stderr),
      getOutHasColors: () => usesColour(process.stdout),
      getErrHasColors: () => usesColour(process.stderr),
    })
    .configureHelp(helpLayout)
    .helpOption('-h, --help', 'show the usage')
    .exitOverride();
  for (const { heading, commands } of groups) {
    program.commandsGroup(heading);
    for (const add of commands) add(program, source);
  }
  return complete(program.helpCommand('help [command]', 'show the usage of a command'));
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
    // Without --json, the parser has already printed the help.
    return asJson ? fail({ exit: 'usage', message: missingCommand }, asJson) : exitCodes.usage.code;
  }
}

function fail({ exit, message }: { readonly exit: ExitName; readonly message: string }, asJson: boolean): number {
  const text = asJson
    ? JSON.stringify({ error: { code: exit, message } })
    : `${paint(process.stderr, 'red', 'portcullis:')} ${message}`;
  process.stderr.write(`${text}\n`);
  return exitCodes[exit].code;
}

/** With --json, only the error object is written to standard error. */
function silenceParser(command: Command): void {
  command.configureOutput({ writeErr: () => undefined });
  for (const sub of command.commands) silenceParser(sub);
}

const missingCommand = 'A command is missing: --help lists the commands.';

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/**
 * Moves common options that precede the command, as in `-n team status`, after it, where the parser accepts them. All
 * other words keep their position.
 */
function withLeadingOptions(program: Command, source: ResourceSource, args: readonly string[]): string[] {
  const { options } = withColourOption(withOutput(source.addOptions(new CliCommand())));
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
