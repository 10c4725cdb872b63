import type { Option } from 'commander';
import { quoteWord } from './quote-word.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The command line that npm should have got. npm treats the options before `--` as its own settings, and passes them on
 * only as `npm_config_NAME`: with `true` or a value, and not at all for an option that begins with `--no-`.
 * @param options the options of the command that `npm start` runs
 * @param words the words that npm passed on; the value in `--port 8090` is one of them
 * @returns the right command, or undefined if npm took no option
 */
export function commandForNpm(
  options: readonly Option[],
  words: readonly string[],
  environment: Environment,
): { readonly taken: readonly string[]; readonly command: string } | undefined {
  const rest = [...words];
  const taken = options.filter((option) => isTaken(option, settingOf(option, environment)));
  if (taken.length === 0) return undefined;
  const valueless = taken.filter((option) => option.required && settingOf(option, environment) === 'true');
  const isOneValue = valueless.length === 1 && rest[0] !== undefined && !rest[0].startsWith('-');
  const loose = isOneValue ? rest.shift() : undefined;
  const given = taken.flatMap((option) => {
    const flag = flagOf(option);
    if (!option.required) return [flag];
    const value = settingOf(option, environment);
    return [flag, value === undefined || value === 'true' ? (loose ?? 'VALUE') : value];
  });
  const command = ['npm start --', ...[...given, ...rest].map(quoteWord)].join(' ');
  return { taken: taken.map(flagOf), command };
}

function flagOf({ long, flags }: Option): string {
  return long ?? flags;
}

function settingOf(option: Option, environment: Environment): string | undefined {
  const name = flagOf(option).replace(/^--(no-)?/, '');
  return environment[`npm_config_${name.replaceAll('-', '_').toLowerCase()}`];
}

function isTaken({ negate, required }: Option, value: string | undefined): boolean {
  if (value === undefined) return false;
  if (negate) return value === '' || value === 'false';
  return required || (value !== '' && value !== 'false');
}
