import type { Argument, Command, Option } from 'commander';
import { kinds } from '#resources/kinds';
import { formatWordsOf } from '../output/format.ts';
import { everyKind } from '../selection/select.ts';
import { type PartialLine, readLine } from './read-line.ts';

/** Candidates for the last word. */
type Completion = {
  readonly words: readonly string[];
  /** Whether the shell completes file names if no word matches. */
  readonly files: 'none' | 'any' | 'folders';
};

/** Finds words that only the server has, such as names of bindings; empty on any failure. */
export type LookUp = (placeholder: string, line: PartialLine) => Promise<readonly string[]>;

const helpWord = 'help';

/** Completes the last word of a command line. */
export async function completeWords(program: Command, words: readonly string[], lookUp: LookUp): Promise<Completion> {
  const line = readLine(program, words);
  const found = await wordsAt(program, line, lookUp);
  return { ...found, words: found.words.filter((word) => word.startsWith(line.last)) };
}

async function wordsAt(program: Command, line: PartialLine, lookUp: LookUp): Promise<Completion> {
  const { command, operands, open, last } = line;
  if (open !== undefined) return valuesOf(open, placeholderOf(open), line, lookUp);
  if (last.startsWith('-')) return only(flagsOf(command, line));
  const commands = command.commands.map((sub) => sub.name());
  if (command === program && operands[0] === helpWord) return only(operands.length === 1 ? commands : []);
  if (commands.length > 0) {
    if (operands.length > 0) return only([]);
    return only(command === program ? [...commands, helpWord] : commands);
  }
  const final = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[operands.length] ?? (final?.variadic === true ? final : undefined);
  return argument === undefined ? only([]) : valuesOf(argument, argument.name(), line, lookUp);
}

async function valuesOf(
  asked: Option | Argument,
  placeholder: string,
  line: PartialLine,
  lookUp: LookUp,
): Promise<Completion> {
  if (asked.argChoices !== undefined) return only(asked.argChoices);
  switch (placeholder) {
    case 'file':
    case 'path':
      return { words: [], files: 'any' };
    case 'dir':
      return { words: [], files: 'folders' };
    case 'format':
      return only(formatWordsOf(asked));
    case 'kind':
      // In KIND/NAME, the names are those of the kind before the slash.
      return only(line.last.includes('/') ? await lookUp('kind/name', line) : kindsOf(line.command));
    default:
      return only(await lookUp(placeholder, line));
  }
}

/** Commands that change resources. */
const writers: ReadonlySet<string> = new Set(['delete', 'edit']);

const listers: ReadonlySet<string> = new Set(['get', 'describe']);

/** Internal kinds can be shown and not changed. */
function kindsOf(command: Command): readonly string[] {
  const all = Object.values(kinds);
  const isWriter = writers.has(command.name());
  const words = all.filter(({ internal }) => !(internal && isWriter)).map(({ plural }) => plural);
  return listers.has(command.name()) ? [...words, everyKind] : words;
}

function flagsOf(command: Command, { options }: PartialLine): readonly string[] {
  const own = command.options
    .filter((option) => !option.hidden && options[option.attributeName()] === undefined)
    .flatMap(({ long, short }) => [long, short?.startsWith('--') === true ? short : undefined])
    .filter((flag) => flag !== undefined && flag !== null);
  return [...own, '--help'];
}

/** The name of an argument, without its angle or square brackets. */
function placeholderOf({ flags }: Option): string {
  return /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? '';
}

function only(words: readonly string[]): Completion {
  return { words, files: 'none' };
}
