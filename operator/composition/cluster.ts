import { join } from 'node:path';
import { createCheckClient } from '#checks/client';
import { digestOf } from '#contracts/canonical';
import { openTokenFile } from '#kit/http/token-file';
import { createClient } from '#kube/client/client';
import { type ClusterAccess, mountedAccess } from '#kube/client/cluster-access';
import { loadKubeconfig } from '#kube/client/credentials';
import { createElectionClient } from '#kube/election/election-client';
import { createElectionMeter } from '#kube/election/election-metrics';
import { fenced } from '#kube/election/fenced-client';
import { type LeaderElection, type LossReason, startLeaderElection } from '#kube/election/leader-election';
import { createEventRecorder } from '#kube/events/event-recorder';
import { allSynced } from '#kube/watch/all-synced';
import { createAgentDeployments } from '../agents/adapters/deployments/agent-deployments.ts';
import { createVersionChecks } from '../agents/version-checks.ts';
import { createBundleConfigMaps } from '../bundles/adapters/config-maps/bundle-config-maps.ts';
import { createJudge } from '../bundles/run-judge.ts';
import { readClusterEnvironment } from '../environment/read-environment-files.ts';
import { watchEnvironment } from '../environment/watch-environment.ts';
import { createGatewayPods } from '../gateways/adapters/pods/gateway-pods.ts';
import { createServedServices } from '../served/adapters/services/served-services.ts';
import { createDeployments } from '../workloads/adapters/deployments/deployments.ts';
import type { Backend, BackendTools, OperatorOverrides } from './backend.ts';
import type { Leadership } from './leadership.ts';
import { openAgentAuthority } from './open-agent-authority.ts';
import { openCollections } from './open-collections.ts';
import type { ClusterConfig } from './operator-config.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * A namespace of a cluster: its resources, Deployments for workloads, pods for gateways. Several operator replicas may
 * run; only the leader acts.
 * @throws ConfigError, TokenFileError, KubeconfigError, KubeError
 */
export async function openCluster(
  config: ClusterConfig,
  tools: BackendTools,
  parts: AsyncDisposableStack,
  overrides: OperatorOverrides,
): Promise<Backend> {
  const { logger, clock, meter } = tools;
  const files = filesOf(config.environmentDirectory);
  const { template, served: entries, agents: agentTemplate } = await readClusterEnvironment(files);
  const environment = parts.use(await watchEnvironment({ files, logger, metrics: tools.metrics }));
  const access = await accessOf(config.api);
  const { namespace, namesUsers } = config;
  const opened = parts.use(createClient({ ...access, namespace, namesUsers, onRequest: tools.onRequest }));
  const plain = overrides.wrapClient?.(opened) ?? opened;
  const elector = parts.use(createElectionClient({ ...access, namespace: config.namespace }));
  const election = parts.use(
    startLeaderElection({
      client: overrides.wrapClient?.(elector) ?? elector,
      name: config.leaseName,
      identity: config.replica,
      logger,
      clock,
      meter: createElectionMeter(tools.metrics, config.leaseName),
    }),
  );
  const writesAllowed = (): boolean => election.writesAllowed();
  const client = fenced(plain, writesAllowed);
  const events = parts.use(
    createEventRecorder({ client, logger, clock, controller: 'portcullis.dev/operator', instance: config.replica }),
  );
  const deployments = parts.use(createDeployments({ client, template, clock, logger, meter, events }));
  const bundles = parts.use(createBundleConfigMaps({ client, clock, logger }));
  const gateways = parts.use(createGatewayPods({ client, clock, logger }));
  const { port } = template;
  const served = parts.use(createServedServices({ client, entries, port, clock, logger }));
  const servedRevision = (policy: string) => served.pins().get(policy)?.policyRevision;
  const agents =
    agentTemplate === undefined
      ? undefined
      : parts.use(
          createAgentDeployments({
            client,
            template: agentTemplate,
            servedRevision,
            clock,
            logger,
            meter,
            ...(overrides.reachAgents === undefined ? {} : { reach: overrides.reachAgents }),
          }),
        );
  const watched = [deployments, bundles, gateways, served, ...(agents === undefined ? [] : [agents])];
  const authority = overrides.authority ?? openAgentAuthority(config.authority, logger, writesAllowed);
  if (authority !== undefined) parts.use(authority.rights);
  const { secretsDirectory, cacheDirectory } = config;
  return {
    apiUrl: access.url,
    client,
    environment,
    build: config.build ?? template.image,
    template: digestOf(template),
    workloads: deployments,
    gateways,
    bundles,
    served,
    collections: overrides.collections ?? openCollections(config.retrieval, writesAllowed),
    agents: overrides.agents ?? agents,
    authority,
    checks: parts.use(createCheckClient({ tokenFile: openTokenFile(config.runtimeTokenFile) })),
    versionChecks: overrides.versionChecks ?? createVersionChecks(),
    judge:
      overrides.judge ?? createJudge({ file: join(root, 'runtime', 'judge.ts'), secretsDirectory, cacheDirectory }),
    events,
    leadership: leadershipBy(election),
    synced: allSynced(watched),
    silenceMs: () => Math.max(...watched.map((one) => one.silenceMs())),
  };
}

function filesOf(folder: string) {
  return {
    providers: join(folder, 'providers.yaml'),
    limits: join(folder, 'limits.yaml'),
    connections: join(folder, 'connections.yaml'),
    served: join(folder, 'served-policies.yaml'),
    template: join(folder, 'workload.yaml'),
    agents: join(folder, 'agents.yaml'),
  };
}

async function accessOf(api: ClusterConfig['api']): Promise<ClusterAccess> {
  switch (api.kind) {
    case 'kubeconfig':
      return loadKubeconfig({ file: api.file });
    case 'mounted':
      return mountedAccess(api);
  }
}

const losses: Readonly<Record<LossReason, string>> = {
  taken: 'another process took the lease',
  not_renewed: 'the lease could not be renewed in time',
};

function leadershipBy(election: LeaderElection): Leadership {
  return {
    elected: election.elected,
    lost: election.lost.then((reason) => losses[reason]),
    problem: () => (election.silenceMs() > election.deadAfterMs ? 'the election loop is not running' : undefined),
    [Symbol.asyncDispose]: () => election[Symbol.asyncDispose](),
  };
}
