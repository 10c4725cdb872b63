import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { CliCommand } from './command-line/cli-command.ts';
import { complete, helpLayout, helpWidth, withColourOption } from './command-line/help-layout.ts';
import { runAs } from './command-line/typed-command.ts';
import { completeWord, directives } from './completion/shell-scripts.ts';
import { describeError } from './errors/describe-error.ts';
import { type ExitName, exitCodes } from './errors/exit-codes.ts';
import { UnknownOptionError } from './errors/unknown-option-error.ts';
import { paint, usesColour } from './output/colour.ts';
import { asksForJson, withOutput } from './output/format.ts';
import { writeText } from './output/write.ts';
import { checkout } from './platform/data-directory.ts';
import { explainingSource } from './resources/explaining-source.ts';
import type { ResourceSource } from './resources/resource-source.ts';

type ProgramText = { readonly name: string; readonly description: string };

type AddCommand = (program: Command, source: ResourceSource) => void;

/** A group of commands that the help lists under one heading. A command's module is loaded when its name is needed. */
export type CommandGroup = {
  readonly heading: string;
  readonly commands: Readonly<Record<string, () => Promise<AddCommand>>>;
};

/**
 * A command line with its commands, its help, its exit codes and its version.
 * @param only name of the only command that will run; an unknown name or undefined means all commands
 */
export async function createProgram(
  { name, description }: ProgramText,
  groups: readonly CommandGroup[],
  source: ResourceSource,
  only?: string,
): Promise<Command> {
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
  const isKnown = groups.some(({ commands }) => only !== undefined && Object.hasOwn(commands, only));
  for (const { heading, commands } of groups) {
    program.commandsGroup(heading);
    const needed = Object.entries(commands).filter(([command]) => !isKnown || command === only);
    const added = await Promise.all(needed.map(([, load]) => load()));
    for (const add of added) add(program, source);
  }
  return complete(program.helpCommand('help [command]', 'show the usage of a command'));
}

type CreateProgram = (only: string | undefined, source: ResourceSource) => Promise<Command>;

/** Runs one command line. An error is written as one sentence, or as one JSON object with --json. @returns the exit code */
export function runProgram(create: CreateProgram, args: readonly string[], source: ResourceSource): Promise<number> {
  return runAs(source.program, () => runLine(create, args, source));
}

async function runLine(create: CreateProgram, args: readonly string[], givenSource: ResourceSource): Promise<number> {
  const asJson = asksForJson(args);
  const { source, explained } = explainingSource(givenSource);
  try {
    if (args[0] === completeWord) {
      await completeLine(create, args.slice(1), source);
      return exitCodes.ok.code;
    }
    const parse = async (only: string | undefined): Promise<void> => {
      const program = await create(only, source);
      if (asJson) silenceParser(program);
      await program.parseAsync(withLeadingOptions(program, source, args), { from: 'user' });
    };
    await parse(args[0]).catch((error: unknown) => {
      if (!(error instanceof UnknownOptionError)) throw error;
      // No command has run. The parser refuses the line again, this time with all commands that have the option.
      return parse(undefined);
    });
    return exitCodes.ok.code;
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(describeError(await explained(error)), asJson);
    if (error.exitCode === 0) return exitCodes.ok.code;
    // Without --json, the parser has already printed the help.
    return asJson ? fail({ exit: 'usage', message: missingCommand }, asJson) : exitCodes.usage.code;
  }
}

/**
 * Prints the candidates for the last word of a command line. While the first word is typed, every command is a
 * candidate.
 */
async function completeLine(create: CreateProgram, args: readonly string[], source: ResourceSource): Promise<void> {
  const { completeWords } = await import('./completion/complete-words.ts');
  const { createLookUp } = await import('./completion/look-up.ts');
  const program = await create(args.length > 1 ? args[0] : undefined, source);
  const line = withLeadingOptions(program, source, args);
  const { words, files } = await completeWords(program, line, createLookUp(source));
  writeText([...words, directives[files]].join('\n'));
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
