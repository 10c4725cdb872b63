import { type Kind, kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';

/**
 * The kind with this name, plural or short name, in any letter case.
 * @throws CliError usage that lists the kinds
 */
export function resourceKind(word: string): Kind {
  const wanted = word.toLowerCase();
  const found = Object.values(kinds).find((kind) => {
    const names: readonly string[] = [kind.kind.toLowerCase(), kind.plural, ...kind.shortNames];
    return names.includes(wanted);
  });
  if (found !== undefined) return found;
  const known = Object.values(kinds).map(({ plural, shortNames }) => `${plural} (${shortNames.join(', ')})`);
  throw new CliError('usage', `There is no kind ${JSON.stringify(word)}; there are ${known.join(', ')}.`);
}
