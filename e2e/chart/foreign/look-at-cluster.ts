import { kubectl } from '../../../hack/cluster/control-plane/kubectl.ts';
import { type ClusterSnapshot, type Present, portcullisGroup } from './decide-use.ts';

/** The members of an object that are read. */
type Read = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};
type Definition = Read & { readonly spec: { readonly group: string; readonly names: { readonly plural: string } } };

/** Timeout, so that an unreachable cluster fails early. */
const patience = '--request-timeout=20s';

/**
 * Reads the state that the decision about the cluster needs. The function writes nothing.
 * @param rendered objects that the chart would create
 * @throws Error with the message of kubectl
 */
export async function lookAtCluster(
  kubeconfigFile: string,
  { context, namespace }: Pick<ClusterSnapshot, 'context' | 'namespace'>,
  rendered: string,
): Promise<ClusterSnapshot> {
  const read = (args: readonly string[], input?: string) => readObjects(kubeconfigFile, args, input);
  const namespaces = await read(['get', 'namespaces']);
  // The namespace does not exist, so only cluster-scoped objects can be found.
  const named = await read(['get', `--namespace=${namespace}`, '--ignore-not-found', '--filename=-'], rendered);
  const definitions = ((await read(['get', 'customresourcedefinitions'])) as readonly Definition[]).filter(
    ({ spec }) => spec.group === portcullisGroup,
  );
  const kinds = definitions.map(({ spec }) => `${spec.names.plural}.${portcullisGroup}`);
  const objects = kinds.length === 0 ? [] : await read(['get', kinds.join(','), '--all-namespaces']);
  return {
    context,
    namespace,
    namespaces: new Set(namespaces.map(({ metadata }) => metadata.name)),
    present: [...new Map([...definitions, ...named].map(presentOf).map((one) => [one.id, one])).values()],
    objects: objects.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`),
  };
}

async function readObjects(file: string, args: readonly string[], input?: string): Promise<readonly Read[]> {
  const { code, stdout, stderr } = await kubectl(file, [...args, '--output=json', patience], input);
  if (code !== 0) throw new Error(stderr.trim());
  if (stdout === '') return [];
  const answer = JSON.parse(stdout) as Read & { readonly items?: readonly Read[] };
  return answer.items ?? [answer];
}

/** Object name in the format of kubectl. */
export function objectId({
  apiVersion,
  kind,
  metadata,
}: Pick<Read, 'apiVersion' | 'kind'> & { readonly metadata: { readonly name: string } }): string {
  const [, apiGroup] = /^(.+)\//.exec(apiVersion) ?? [];
  return `${kind.toLowerCase()}${apiGroup === undefined ? '' : `.${apiGroup}`}/${metadata.name}`;
}

function presentOf(object: Read): Present {
  const { resourceVersion, annotations = {} } = object.metadata;
  const owner = annotations['meta.helm.sh/release-name'];
  return {
    id: objectId(object),
    resourceVersion,
    owner:
      owner === undefined
        ? undefined
        : { release: owner, namespace: annotations['meta.helm.sh/release-namespace'] ?? '' },
  };
}
