import type { Command } from 'commander';
import { programs, refusalOf } from './refusal-of.ts';

/**
 * The options that the message of a command names but the command does not have; if the message is about a start,
 * `portcullis up` may have them instead. The options of a command in quotation marks are compared with that command.
 * @param args the command line that the message answers; a mistyped option in it is not advice
 */
export async function foreignOptions(program: string, args: readonly string[], message: string): Promise<string[]> {
  const named = [...message.matchAll(/"((?:kubectl )?portcullis) ([^"]+)"/g)];
  const refused: string[] = [];
  for (const [quoted, of = '', line = ''] of named) {
    const words = line.split(' ').filter((word) => word !== '...');
    const refusal = await refusalOf({ program: of, words }, { isMention: true });
    if (refusal !== undefined) refused.push(`${quoted}: ${refusal}`);
  }
  const rest = message
    .replaceAll(/"(?:kubectl )?portcullis [^"]+"/g, '')
    .replaceAll(/Usage: .*|npm start .*|another command printed with --[a-z]+/g, '');
  const taken = new Set([...(await optionsOf(program, args)), ...args.map((word) => word.replace(/=.*/s, ''))]);
  if (/\bstart/.test(rest)) for (const option of await optionsOf('portcullis', ['up'])) taken.add(option);
  const options = rest.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [];
  return [...refused, ...options.filter((option) => !taken.has(option))];
}

async function optionsOf(program: string, args: readonly string[]): Promise<readonly string[]> {
  let command: Command | undefined = await programs[program]?.();
  if (command === undefined) throw new Error(`no program ${program}`);
  for (const word of args) {
    const found: Command | undefined = command.commands.find((sub) => sub.name() === word);
    if (found !== undefined) command = found;
  }
  return ['--help', ...command.options.flatMap(({ flags }) => flags.match(/--[\w-]+/g) ?? [])];
}
