import { type Kind, kinds } from '#resources/kinds';
import { CliError } from '../errors/cli-error.ts';
import { resourceKind } from '../resources/resource-kind.ts';

type Target = { readonly kind: Kind; readonly name: string };

/** The selection that the words after a verb describe: all resources of some kinds, or resources by name. */
export type Selection =
  | { readonly by: 'kind'; readonly kinds: readonly Kind[] }
  | { readonly by: 'name'; readonly targets: readonly Target[] };

/** Selects the resources of every kind, as in `get all`. */
export const everyKind = 'all';

/**
 * Reads the words as kubectl does: `KIND[,KIND]`, `KIND NAME…`, `KIND/NAME…` or `all`.
 * @throws CliError usage
 */
export function readSelection([first = '', ...rest]: readonly string[]): Selection {
  if (first.includes('/')) return { by: 'name', targets: [first, ...rest].map(readKindAndName) };
  const slashed = rest.find((word) => word.includes('/'));
  if (slashed !== undefined) {
    throw new CliError('usage', `${JSON.stringify(slashed)} names a kind again: write KIND NAME… or KIND/NAME….`);
  }
  if (first.toLowerCase() === everyKind) {
    if (rest.length === 0) return { by: 'kind', kinds: Object.values(kinds) };
    throw new CliError('usage', `"${everyKind}" means every kind and cannot be followed by a name: name the kind.`);
  }
  const selected = first.split(',').map(resourceKind);
  if (rest.length === 0) return { by: 'kind', kinds: selected };
  return { by: 'name', targets: selected.flatMap((kind) => rest.map((name) => ({ kind, name }))) };
}

/** Reads KIND/NAME. @throws CliError usage */
export function readKindAndName(word: string): Target {
  const [kind = '', name = '', ...more] = word.split('/');
  if (name === '' || more.length > 0) {
    throw new CliError('usage', `${JSON.stringify(word)} is not KIND/NAME, as in policy/guarded-chat.`);
  }
  return { kind: resourceKind(kind), name };
}
