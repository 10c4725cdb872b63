import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createCheckClient } from '#checks/client';
import { type DataDirectory, dataDirectory } from '#contracts/data-directory';
import { createSecret } from '#kit/files/create-secret';
import { openTokenFile } from '#kit/http/token-file';
import { childEnvironment } from '#kit/process/config';
import { traceEnvironment } from '#kit/trace/trace-settings';
import { createClient } from '#kube/client/client';
import { silentRecorder } from '#kube/events/event-recorder';
import { createVersionChecks } from '../agents/version-checks.ts';
import { createBundleFiles } from '../bundles/adapters/files/bundle-files.ts';
import { createJudge } from '../bundles/run-judge.ts';
import { readServedPolicies } from '../environment/read-environment-files.ts';
import { watchEnvironment } from '../environment/watch-environment.ts';
import { startFolderApi } from '../folder-api/http/start-folder-api.ts';
import { createGatewayProcesses } from '../gateways/adapters/processes/gateway-processes.ts';
import { openServedFiles } from '../served/adapters/files/served-files.ts';
import { buildVersion } from '../workloads/adapters/processes/build-version.ts';
import { createProcesses } from '../workloads/adapters/processes/processes.ts';
import type { Backend, BackendTools, OperatorOverrides } from './backend.ts';
import { soleLeader } from './leadership.ts';
import { openAgentAuthority } from './open-agent-authority.ts';
import { openAgents } from './open-agents.ts';
import { openCollections } from './open-collections.ts';
import type { StandaloneConfig } from './operator-config.ts';

const root = join(import.meta.dirname, '..', '..');
/** A machine has only one operator, which is always allowed to write. */
const isAlone = (): boolean => true;

/**
 * One machine without a cluster: the resources of a folder, served on loopback, and local processes.
 * @throws ConfigError, StoreError, ListenError, TokenFileError
 */
export async function openStandalone(
  config: StandaloneConfig,
  tools: BackendTools,
  parts: AsyncDisposableStack,
  overrides: OperatorOverrides,
): Promise<Backend> {
  const data = await prepareDataDirectory(config.dataDirectory);
  const environment = parts.use(await watchEnvironment({ files: data, logger: tools.logger, metrics: tools.metrics }));
  const entries = await readServedPolicies(data.servedPolicies);
  const build = config.build ?? (await buildVersion(root));
  const api = parts.use(
    await startFolderApi({
      ...tools,
      directory: data.resources,
      watchedDirectory: data.apply,
      listen: config.apiListen,
      tokenFile: openTokenFile(data.apiToken),
      namespace: config.namespace,
    }),
  );
  const client = parts.use(
    createClient({
      url: api.url,
      tokenFile: openTokenFile(data.apiToken),
      namespace: config.namespace,
      onRequest: tools.onRequest,
    }),
  );
  const workloads = parts.use(overrides.workloads ?? openProcesses(config, data, build, tools));
  const authority = overrides.authority ?? openAgentAuthority(config.authority, tools.logger, isAlone);
  if (authority !== undefined) parts.use(authority.rights);
  const addressesOf = (workload: string): readonly string[] => workloads.observe(workload).addresses;
  const { served: directory, servedPins: pinsDirectory } = data;
  const served = parts.use(
    overrides.served ?? (await openServedFiles({ directory, pinsDirectory, entries, addressesOf })),
  );
  const agents = overrides.agents ?? (await openAgents(config.agents, data, { build, logger: tools.logger, served }));
  if (agents !== undefined) parts.use(agents);
  return {
    apiUrl: api.url,
    client: overrides.wrapClient?.(client) ?? client,
    environment,
    build,
    template: undefined,
    served,
    events: overrides.events ?? silentRecorder,
    leadership: soleLeader,
    synced: Promise.resolve(),
    silenceMs: () => 0,
    workloads,
    collections: overrides.collections ?? openCollections(config.retrieval, isAlone),
    agents,
    authority,
    gateways: parts.use(createGatewayProcesses({ runDirectory: data.run })),
    checks: parts.use(createCheckClient({ tokenFile: openTokenFile(data.runtimeToken) })),
    bundles: parts.use(overrides.bundles ?? createBundleFiles(data.bundles, tools.logger)),
    judge: overrides.judge ?? openJudge(data),
    versionChecks: overrides.versionChecks ?? createVersionChecks(),
  };
}

function openJudge({ secrets, judging }: DataDirectory) {
  const file = join(root, 'runtime', 'judge.ts');
  return createJudge({ file, secretsDirectory: secrets, cacheDirectory: judging });
}

function openProcesses({ traces }: StandaloneConfig, data: DataDirectory, build: string, { logger }: BackendTools) {
  return createProcesses({
    runtimeFile: join(root, 'runtime', 'main.ts'),
    build,
    bundlesDirectory: data.bundles,
    logsDirectory: data.logs,
    runDirectory: data.run,
    secretsDirectory: data.secrets,
    tokenFile: data.runtimeToken,
    inherited: { ...childEnvironment(), ...traceEnvironment(traces) },
    logger,
  });
}

/** Creates missing folders and tokens; only their owner may read them. */
async function prepareDataDirectory(root: string): Promise<DataDirectory> {
  const data = dataDirectory(root);
  const { resources, bundles, logs, run, secrets, tokens, served, servedPins } = data;
  for (const folder of [root, resources, bundles, logs, run, secrets, tokens, served, servedPins]) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  }
  await createSecret(data.apiToken);
  await createSecret(data.runtimeToken);
  return data;
}
