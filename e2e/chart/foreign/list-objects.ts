import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { kubectlOk } from '../../../hack/cluster/control-plane/kubectl.ts';

/** Kinds that controllers change in an idle cluster. */
const restless = new Set(['events', 'events.events.k8s.io', 'leases.coordination.k8s.io']);

type Item = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
};

/**
 * Every object of a cluster, one per line, sorted: kind, namespace, name, uid and a digest of its content without
 * status.
 */
export async function listAllObjects(kubeconfigFile: string): Promise<readonly string[]> {
  const resources = (await kubectlOk(kubeconfigFile, ['api-resources', '--verbs=list', '--output=name']))
    .trim()
    .split('\n')
    .filter((name) => !restless.has(name));
  const answer = await kubectlOk(kubeconfigFile, ['get', resources.join(','), '--all-namespaces', '--output=json']);
  const { items } = JSON.parse(answer) as { readonly items: readonly Item[] };
  return [...new Set(items.map(lineOf))].toSorted();
}

function lineOf({ status: _status, metadata, ...rest }: Item): string {
  const { resourceVersion: _version, managedFields: _fields, ...kept } = metadata;
  const digest = createHash('sha256')
    .update(canonicalize({ ...rest, metadata: kept }) ?? '')
    .digest('hex');
  return `${rest.kind} ${metadata.namespace ?? ''}/${metadata.name} ${metadata['uid']} ${digest.slice(0, 16)}`;
}

/** Kind, namespace and name of a line. */
export function objectOfLine(line: string): string {
  return line.split(' ').slice(0, 2).join(' ');
}
