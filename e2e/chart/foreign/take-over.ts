import { parseAllDocuments, stringify } from 'yaml';
import { kubectlOk } from '../../../hack/cluster/kubectl.ts';
import type { Rendered } from '../render-chart.ts';
import { type Present, release } from './decide-use.ts';
import { idOf } from './look-at-cluster.ts';

/**
 * Assigns leftover definitions of an earlier run to a release in this namespace. Writes as the field manager of Helm:
 * Helm only upgrades objects of its own release, and another field manager would conflict with later installations.
 * @param rendered objects of the chart
 * @throws Error when a definition was changed since it was read
 */
export async function takeOver(
  kubeconfigFile: string,
  leftovers: readonly Present[],
  rendered: string,
  namespace: string,
): Promise<void> {
  const versions = new Map(leftovers.map(({ id, resourceVersion }) => [id, resourceVersion]));
  const objects = parseAllDocuments(rendered, { version: '1.1' }).flatMap((document) => {
    const object = document.toJS() as Rendered | null;
    const resourceVersion = object === null ? undefined : versions.get(idOf(object));
    return object === null || resourceVersion === undefined ? [] : [owned(object, resourceVersion, namespace)];
  });
  if (objects.length === 0) return;
  const list = stringify({ apiVersion: 'v1', kind: 'List', items: objects }, { aliasDuplicateObjects: false });
  await kubectlOk(kubeconfigFile, ['apply', '--server-side', '--field-manager=helm', '--filename=-'], list);
}

function owned({ metadata, ...rest }: Rendered, resourceVersion: string, namespace: string): object {
  const annotations = {
    ...metadata.annotations,
    'meta.helm.sh/release-name': release,
    'meta.helm.sh/release-namespace': namespace,
  };
  return { ...rest, metadata: { ...metadata, resourceVersion, annotations } };
}
