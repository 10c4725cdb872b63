import { type Kind, kinds } from '#resources/kinds';
import { typedCommand } from '../command-line/typed-command.ts';
import type { ResourceSource, SourceOptions } from './resource-source.ts';

type Owned = { readonly kind: Kind; readonly name: string };

/**
 * The resources with which the platform deletes its internal resources, a sentence each with a leading space; empty
 * where the owner is not known, or cannot be read.
 */
export async function ownerRemedy(
  source: ResourceSource,
  owned: readonly Owned[],
  options: SourceOptions,
): Promise<string> {
  if (owned.length === 0) return '';
  try {
    await using resources = await source.open(options);
    const sentences: string[] = [];
    for (const { kind, name } of owned.slice(0, mostOwned)) {
      const found = await resources.client.get(kind, name);
      const owners = found?.metadata.ownerReferences ?? [];
      const writable = owners.flatMap((owner) => {
        const ownerKind = Object.values(kinds).find((one) => one.kind === owner.kind && !one.internal);
        return ownerKind === undefined ? [] : [{ ...owner, word: ownerKind.kind.toLowerCase() }];
      });
      const [only, ...others] = writable;
      if (only === undefined || writable.length !== owners.length) continue;
      const what = `The ${kind.kind} ${name} is deleted with`;
      sentences.push(
        others.length === 0
          ? ` ${what} the ${only.kind} ${only.name}: ${typedCommand(`delete ${only.word} ${only.name}`)}.`
          : ` ${what} the last of its owners: ${writable.map((owner) => `${owner.kind} ${owner.name}`).join(', ')}.`,
      );
    }
    return sentences.join('');
  } catch {
    return '';
  }
}

/** Maximum number of resources whose owners are named. */
const mostOwned = 5;
