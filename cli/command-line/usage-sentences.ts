import type { Argument, Command, Option } from 'commander';
import { didYouMean } from './did-you-mean.ts';
import { exampleOf } from './examples.ts';
import { replacementOf } from './replaced-commands.ts';

/** @param words the words of the command line from the unknown command on */
export function unknownCommandSentence(command: Command, words: readonly string[]): string {
  const [word = ''] = words;
  const names = command.commands.map((sub) => sub.name());
  const of = command.parent === null ? '' : ` of ${subject(command)}`;
  const replacement = command.parent === null ? replacementOf(words) : undefined;
  const known =
    replacement === undefined || !names.includes(replacement.by.split(' ')[0] ?? '') ? undefined : replacement;
  const remedy = known === undefined ? didYouMean(word, names) : ` Use "${command.name()} ${known.by}".`;
  return `There is no command ${quoted(known?.words ?? word)}${of}.${remedy} ${helpRemedy(command, 'commands')}`;
}

export function unknownOptionSentence(command: Command, word: string): string {
  const [flag = word] = word.split('=', 1);
  const own = [...command.options.flatMap(({ long }) => long ?? []), '--help'];
  const ofCommands = command.commands.flatMap((sub) => sub.options.flatMap(({ long }) => long ?? []));
  const hint = ofCommands.includes(flag)
    ? ` Write it after the command: ${pathOf(command)} COMMAND ${flag}.`
    : flag.startsWith('--')
      ? didYouMean(flag, own) || ownersHint(command, flag)
      : '';
  return `${subject(command)} has no option ${flag}.${hint} ${helpRemedy(command, 'options')}`;
}

/** Maximum number of commands that a message names as those that have an option. */
const maxOwners = 3;

/**
 * The commands that have an option, as a sentence with a leading space; empty if no command or many commands have it.
 */
function ownersHint(command: Command, flag: string): string {
  const all = commandsBelow(rootOf(command)).filter((one) => one.options.some(({ long }) => long === flag));
  const owners = all.map((one) => `"${pathOf(one)}"`);
  if (owners.length === 0 || owners.length > maxOwners) return '';
  const last = owners.pop();
  const named = owners.length === 0 ? `${last} has it` : `${owners.join(', ')} and ${last} have it`;
  return ` Leave it out: only ${named}.`;
}

function commandsBelow(command: Command): readonly Command[] {
  return command.commands.flatMap((sub) => [sub, ...commandsBelow(sub)]);
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent);
}

export function missingArgumentSentence(command: Command, name: string): string {
  const missing = command.registeredArguments.find((one) => one.name() === name);
  const what = missing === undefined || missing.description === '' ? '' : ` (${missing.description})`;
  return `${subject(command)} needs the argument <${name}>${what}. ${exampleRemedy(command)}`;
}

export function excessArgumentsSentence(command: Command, words: readonly string[]): string {
  const most = command.registeredArguments.length;
  const takes = most === 0 ? 'no argument' : most === 1 ? 'one argument' : `at most ${most} arguments`;
  const quote = most === 0 ? '' : ' An argument that contains blanks needs quotes.';
  return `${subject(command)} takes ${takes}, and ${quoted(words[most] ?? '')} is one too many.${quote} ${usageRemedy(command)}`;
}

export function missingValueSentence(command: Command, { flags, description }: Option): string {
  return `The option ${flags} of ${subject(command)} needs a value (${description}).`;
}

export function missingOptionSentence(command: Command, { flags, description }: Option): string {
  return `${subject(command)} needs the option ${flags} (${description}). ${exampleRemedy(command)}`;
}

/** @param reason a sentence of the parser of this value, such as `It must be a whole number from 0 to 65535.` */
export function invalidValueSentence(
  command: Command,
  target: Argument | Option,
  { value, reason }: { readonly value: string; readonly reason: string },
): string {
  const name = 'flags' in target ? longNames(target) : `<${target.name()}>`;
  const { argChoices } = target;
  // A list may be long, so that the word that was probably meant is put before it.
  const meant = argChoices === undefined ? '' : didYouMean(value, argChoices);
  const rule = argChoices === undefined ? reason : `It must be one of ${argChoices.join(', ')}.`;
  return `${name} of ${subject(command)} cannot be ${quoted(value)}.${meant} ${rule}`;
}

/** The long names of an option: "--to, --to-revision" for an option with two names. */
function longNames({ flags }: Option): string {
  return flags.match(/--[\w-]+/g)?.join(', ') ?? flags;
}

export function invalidLineSentence(command: Command): string {
  return `The options of ${subject(command)} cannot be used together. ${usageRemedy(command)}`;
}

/** The words of a command as a reader types them, such as `portcullis bundle build`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

function wordsOf(command: Command): string {
  return command.parent === null ? '' : `${wordsOf(command.parent)} ${command.name()}`.trim();
}

/** The command as the subject of a sentence, without the name of the program, which precedes each message. */
function subject(command: Command): string {
  return command.parent === null ? 'The command line' : `"${wordsOf(command)}"`;
}

function helpRemedy(command: Command, what: 'commands' | 'options'): string {
  return `"${pathOf(command)} --help" lists the ${what}.`;
}

function usageRemedy(command: Command): string {
  return `Usage: ${pathOf(command)} ${command.usage()}`;
}

function exampleRemedy(command: Command): string {
  const example = exampleOf(rootOf(command).name(), wordsOf(command));
  return example === undefined ? usageRemedy(command) : `Example: ${example}`;
}

/** A word of the command line, shortened for a message. */
function quoted(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 60)}…` : word);
}
