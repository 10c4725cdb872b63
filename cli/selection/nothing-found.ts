import type { KubeClient } from '#kube/client/client';
import { allNamespaces } from '#kube/client/resource-path';
import { otherPlace } from '../resources/absent-resource.ts';
import type { Selection } from './select.ts';

/** Reports that a selection has no resource, with the labels and the namespace that were searched. */
export function nothingFound({ namespace }: KubeClient, selection: Selection, selector: string | undefined): string {
  const only = selection.by === 'kind' && selection.kinds.length === 1 ? selection.kinds[0] : undefined;
  const place = namespace === allNamespaces ? 'any namespace' : `the namespace ${namespace}`;
  const labels = selector === undefined ? '' : ` with the labels ${selector}`;
  return `No ${only?.plural ?? 'resources'}${labels} in ${place}.${otherPlace(only)}`;
}
