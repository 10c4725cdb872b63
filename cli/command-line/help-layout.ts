import { styleText } from 'node:util';
import type { AddHelpTextContext, Command, HelpConfiguration } from 'commander';
import { exitCodes } from '../errors/exit-codes.ts';
import { exampleOf } from './examples.ts';

/** Columns below which a description is not wrapped. */
const minWidthToWrap = 20;

/** The parser removes these colours when the output is not a terminal or colours are off. */
const bold = (text: string): string => styleText('bold', text, { validateStream: false });

export const helpLayout: HelpConfiguration = {
  minWidthToWrap,
  styleTitle: bold,
  // A list of commands shows names; the help of each command has its arguments.
  subcommandTerm: (command) => command.name(),
};

/** Width of the help in columns: COLUMNS, else the width of the terminal, else 80. */
export function helpWidth(stream: NodeJS.WriteStream): number {
  const asked = Number(process.env['COLUMNS']);
  if (Number.isInteger(asked) && asked >= 40 && asked <= 1_000) return asked;
  return stream.isTTY ? stream.columns : 80;
}

/** Adds `--no-color` and an example to each command, and the exit codes to the program. */
export function complete(program: Command): Command {
  completeCommand(program, program.name(), []);
  return program.addHelpText('after', (context) => exitCodeHelp(program, context));
}

function completeCommand(command: Command, program: string, words: readonly string[]): void {
  withColourOption(command);
  const example = exampleOf(program, words.join(' '));
  if (example !== undefined) command.addHelpText('after', `\n${bold('Example:')}\n  ${example}`);
  for (const sub of command.commands) completeCommand(sub, program, [...words, sub.name()]);
}

/** Adds `--no-color`. */
export function withColourOption(command: Command): Command {
  return command.option('--no-color', 'write no colours, as with NO_COLOR').on('option:no-color', turnColoursOff);
}

/** `FORCE_COLOR` would take precedence over `NO_COLOR`. */
function turnColoursOff(): void {
  delete process.env['FORCE_COLOR'];
  process.env['NO_COLOR'] = '1';
}

function exitCodeHelp(program: Command, { error }: AddHelpTextContext): string {
  const help = program.createHelp();
  const width = helpWidth(error ? process.stderr : process.stdout);
  help.prepareContext({ helpWidth: width });
  const termWidth = 2;
  const rows = Object.entries(exitCodes).map(([name, { code, meaning }]) =>
    help.formatItem(String(code).padStart(termWidth), termWidth, `${name}: ${meaning}`, help),
  );
  return [
    `\n${bold('Exit codes:')}`,
    ...rows,
    '',
    help.boxWrap(`"${program.name()} COMMAND --help" shows the options of a command and an example.`, width),
  ].join('\n');
}
