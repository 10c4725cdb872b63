import type { Argument, Command, Option } from 'commander';
import { kinds } from '#resources/kinds';
import { type Position, readLine } from './read-line.ts';

/** What may stand in the place of the last word. */
export type Completion = {
  readonly words: readonly string[];
  /** Whether a shell offers what is on the disk instead, where no word fits. */
  readonly files: 'none' | 'any' | 'folders';
};

/** Finds words that are known at run time alone, such as names of bindings; none where they cannot be had. */
export type LookUp = (placeholder: string, position: Position) => Promise<readonly string[]>;

const helpWord = 'help';

/** What may follow on a command line, of which the last word is being written. */
export async function completeWords(program: Command, words: readonly string[], lookUp: LookUp): Promise<Completion> {
  const position = readLine(program, words);
  const found = await wordsAt(program, position, lookUp);
  return { ...found, words: found.words.filter((word) => word.startsWith(position.last)) };
}

async function wordsAt(program: Command, position: Position, lookUp: LookUp): Promise<Completion> {
  const { command, operands, open, last } = position;
  if (open !== undefined) return valuesOf(open, placeholderOf(open), position, lookUp);
  if (last.startsWith('-')) return only(flagsOf(command, position));
  const commands = command.commands.map((sub) => sub.name());
  if (command === program && operands[0] === helpWord) return only(operands.length === 1 ? commands : []);
  if (commands.length > 0) {
    if (operands.length > 0) return only([]);
    return only(command === program ? [...commands, helpWord] : commands);
  }
  const argument = command.registeredArguments[operands.length];
  return argument === undefined ? only([]) : valuesOf(argument, argument.name(), position, lookUp);
}

async function valuesOf(
  asked: Option | Argument,
  placeholder: string,
  position: Position,
  lookUp: LookUp,
): Promise<Completion> {
  if (asked.argChoices !== undefined) return only(asked.argChoices);
  switch (placeholder) {
    case 'file':
    case 'path':
      return { words: [], files: 'any' };
    case 'dir':
      return { words: [], files: 'folders' };
    case 'kind':
      return only(kindsOf(position.command));
    default:
      return only(await lookUp(placeholder, position));
  }
}

/** Internal kinds are shown and never deleted. */
function kindsOf(command: Command): readonly string[] {
  const all = Object.values(kinds);
  return all.filter(({ internal }) => !(internal && command.name() === 'delete')).map(({ plural }) => plural);
}

function flagsOf(command: Command, { options }: Position): readonly string[] {
  const own = command.options
    .filter((option) => !option.hidden && options[option.attributeName()] === undefined)
    .flatMap(({ long, short }) => [long, short?.startsWith('--') === true ? short : undefined])
    .filter((flag) => flag !== undefined && flag !== null);
  return [...own, '--help'];
}

/** The word in angle or square brackets that stands for the value. */
export function placeholderOf({ flags }: Option): string {
  return /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? '';
}

function only(words: readonly string[]): Completion {
  return { words, files: 'none' };
}
