import { listAll } from '#kube/client/list-all';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { CliError } from '../errors/cli-error.ts';
import { readResource } from '../resources/read-resource.ts';
import type { OpenedResources } from '../resources/resource-source.ts';
import type { Selection } from './select.ts';

/** The resources of one kind that were selected, in the order of the selection. */
export type SelectedKind = { readonly kind: Kind; readonly found: readonly Stored<Resource>[] };

/** Which resources of a selection are wanted. */
type SelectionLimits = { readonly selector?: string };

/**
 * Reads the selected resources. If several kinds are selected, kinds that the transport does not show are left out; a
 * single such kind is refused.
 * @throws CliError not_found for the first name that does not exist
 */
export async function readSelected(
  { client, shows = () => true }: Pick<OpenedResources, 'client' | 'shows'>,
  selection: Selection,
  { selector }: SelectionLimits = {},
): Promise<readonly SelectedKind[]> {
  const limits = selector === undefined ? {} : { labelSelector: selector };
  if (selection.by === 'kind') {
    const shown = selection.kinds.length === 1 ? selection.kinds : selection.kinds.filter(shows);
    return Promise.all(shown.map(async (kind) => ({ kind, found: (await listAll(client, kind, limits)).items })));
  }
  if (selector !== undefined) throw new CliError('usage', '--selector and a name cannot be used together.');
  const selected = new Map<Kind, Stored<Resource>[]>();
  for (const { kind, name } of selection.targets) {
    const found = await readResource(client, kind, name);
    selected.set(kind, [...(selected.get(kind) ?? []), found]);
  }
  return [...selected].map(([kind, found]) => ({ kind, found }));
}
