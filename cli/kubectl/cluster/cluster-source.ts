import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { loadKubeconfig } from '#kube/client/credentials';
import { CliError } from '../../errors/cli-error.ts';
import { readLimitsText, readProvidersText } from '../../manifests/read-environment-files.ts';
import { noteOfCommand, withMessage } from '../../options/message-option.ts';
import { createBoundedClient } from '../../resources/bounded-client.ts';
import type {
  JudgedEnvironment,
  OpenedLogs,
  OpenedResources,
  ResourceSource,
  SourceOptions,
} from '../../resources/resource-source.ts';
import { createResourceWriter } from '../../resources/resource-writer.ts';
import { explainAccess } from './explain-access.ts';
import { observeCluster } from './observe-cluster.ts';
import { createPodLogs } from './pod-logs.ts';

const environmentSelector = 'app.kubernetes.io/part-of=portcullis,app.kubernetes.io/component=operator';
const providersKey = 'providers.yaml';
const limitsKey = 'limits.yaml';

/** A namespace of a cluster, with the kubeconfig of kubectl. */
export const clusterSource: ResourceSource = {
  program: 'kubectl portcullis',
  addOptions: (command) =>
    command
      .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, else ~/.kube/config)')
      .option('--context <name>', 'context of the kubeconfig (default: the current one)')
      .option('-n, --namespace <name>', 'namespace of the resources (default: that of the context)'),
  addWriteOptions: withMessage,
  open: openCluster,
  openLogs: openClusterLogs,
};

async function accessOf({ kubeconfig: file, context, namespace: asked }: SourceOptions) {
  const { namespace: own, ...access } = await loadKubeconfig({ file, context });
  return { access, namespace: asked ?? own ?? 'default' };
}

async function openClusterLogs(options: SourceOptions): Promise<OpenedLogs> {
  const { access, namespace } = await accessOf(options);
  const client = createBoundedClient({ ...access, namespace }, options.requestTimeout);
  return {
    logs: createPodLogs(client, access, options.requestTimeout * 1_000),
    explain: (error) => explainAccess(error, access, new Date()),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

async function openCluster(options: SourceOptions): Promise<OpenedResources> {
  const { requestTimeout, isDryRun: dryRun = false } = options;
  const { access, namespace } = await accessOf(options);
  const client = createBoundedClient({ ...access, namespace, dryRun }, requestTimeout);
  return {
    client,
    writer: createResourceWriter(client, noteOfCommand(options.message)),
    surroundings: () => observeCluster(client, new Date()),
    explain: (error) => explainAccess(error, access, new Date()),
    environment: () => readEnvironment(client),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

/** The approved providers and limits of the installation, read from the ConfigMap that its operator mounts. */
async function readEnvironment(client: KubeClient): Promise<JudgedEnvironment> {
  const { items } = await client.list<ConfigMap>(builtinKinds.configMap, { labelSelector: environmentSelector });
  const [found, ...others] = items.filter(({ data }) => data?.[providersKey] !== undefined);
  if (found === undefined || others.length > 0) {
    const count = found === undefined ? 'no ConfigMap' : `${others.length + 1} ConfigMaps`;
    throw new CliError(
      found === undefined ? 'not_found' : 'usage',
      `The namespace ${client.namespace} has ${count} with the settings of the operator: give --providers and --limits.`,
    );
  }
  const textOf = (key: string) => ({
    name: `ConfigMap ${found.metadata.name}, ${key}`,
    bytes: Buffer.from(found.data?.[key] ?? ''),
  });
  return {
    approved: readProvidersText(textOf(providersKey)),
    limits: readLimitsText(textOf(limitsKey)),
  };
}
