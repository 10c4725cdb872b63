import { parseArgs } from 'node:util';

type WordsWanted = {
  /** One line that `--help` prints. */
  readonly usage: string;
  /** Names that may be given; if none is given, all of them are used. */
  readonly names?: readonly string[];
  /** Switches, without their dashes. */
  readonly switches?: readonly string[];
};

type Words =
  | { readonly kind: 'run'; readonly names: readonly string[]; readonly switches: ReadonlySet<string> }
  /** The text to print instead, and the exit code. */
  | { readonly kind: 'say'; readonly text: string; readonly exitCode: 0 | 2 };

/** Reads the arguments of a command of this checkout; an unknown argument is refused. */
export function readWords(words: readonly string[], { usage, names = [], switches = [] }: WordsWanted): Words {
  const options = Object.fromEntries([...switches, 'help'].map((name) => [name, { type: 'boolean' as const }]));
  const { values, positionals } = parseArgs({ args: [...words], options, strict: false });
  if (values['help'] === true) return { kind: 'say', text: help(usage, names), exitCode: 0 };
  const strange = [
    ...positionals.filter((name) => !names.includes(name)),
    ...Object.keys(values).flatMap((name) => (name in options && values[name] === true ? [] : [`--${name}`])),
  ];
  if (strange.length > 0) {
    return {
      kind: 'say',
      text: `Unknown arguments: ${strange.join(', ')}.\n${help(usage, names)}`,
      exitCode: 2,
    };
  }
  return { kind: 'run', names: positionals, switches: new Set(Object.keys(values)) };
}

/** Reads the command line of a program; exits after help or a refused argument. */
export function programWords(wanted: WordsWanted): Extract<Words, { kind: 'run' }> {
  const words = readWords(process.argv.slice(2), wanted);
  if (words.kind === 'run') return words;
  (words.exitCode === 0 ? console.log : console.error)(words.text);
  process.exit(words.exitCode);
}

function help(usage: string, names: readonly string[]): string {
  return names.length === 0 ? `Usage: ${usage}` : `Usage: ${usage}\nNames: ${names.join(', ')}`;
}
