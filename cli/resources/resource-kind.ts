import { nearestWord } from '#kit/text/nearest-word';
import { group, type Kind, kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';

/**
 * The kind with this name, plural, short name or last word, as in `policy`, in any letter case and with or without its
 * API group.
 * @throws CliError usage that lists the kinds
 */
export function resourceKind(word: string): Kind {
  const wanted = word.toLowerCase().replace(new RegExp(`\\.${group.replace('.', '\\.')}$`), '');
  const found = Object.values(kinds).find((kind) => namesOfKind(kind).includes(wanted));
  if (found !== undefined) return found;
  const known = Object.values(kinds).map(({ plural, shortNames }) => `${plural} (${shortNames.join(', ')})`);
  const nearest = nearestWord(word, Object.values(kinds).flatMap(longNamesOfKind));
  const meant = nearest === undefined ? '' : ` Did you mean ${withPlural(nearest)}?`;
  throw new CliError('usage', `There is no kind ${JSON.stringify(word)}.${meant} The kinds are ${known.join(', ')}.`);
}

/** A name of a kind with the plural under which the list of kinds has it. */
function withPlural(name: string): string {
  const plural = Object.values(kinds).find((kind) => namesOfKind(kind).includes(name))?.plural;
  return plural === undefined || plural === name ? name : `${name} (${plural})`;
}

function lastWord(kind: string): string {
  return (kind.split(/(?=[A-Z])/).at(-1) ?? kind).toLowerCase();
}

/**
 * All names of a kind: singular, plural, short names, and the last word of its name in singular and plural. The last
 * word is left out if another kind ends with the same word, like GatewayRoute and AgentRoute.
 */
export function namesOfKind({ kind, plural, shortNames }: Kind): readonly string[] {
  const singular = kind.toLowerCase();
  const last = lastWord(kind);
  const isShared = Object.values(kinds).some((other) => other.kind !== kind && lastWord(other.kind) === last);
  const long = isShared ? [] : [last, plural.slice(singular.length - last.length)];
  return [singular, plural, ...shortNames, ...long];
}

function longNamesOfKind(kind: Kind): readonly string[] {
  const short = new Set<string>(kind.shortNames);
  return namesOfKind(kind).filter((name) => !short.has(name));
}
