import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import type { LeadershipLostError } from '../../operator/composition/leadership.ts';
import type { ClusterConfig } from '../../operator/composition/operator-config.ts';
import { createOperator, type Operator, type OperatorOverrides } from '../../operator/operator.ts';
import { type FakeReplica, startFakeReplica } from '../../operator/testing/fake-replica.ts';
import { testProviders } from '../../operator/testing/start-test-operator.ts';
import type { ApiServer } from '../kube/open-api-server.ts';
import type { WorkloadNamespace } from './open-workload-namespace.ts';

export const testWorkload = 'image: portcullis:1\ntokenSecret: token\n';

export type ClusterOperator = AsyncDisposable & {
  readonly operator: Operator;
  /** Reason why it lost the leadership; undefined while it has not. */
  readonly lost: Promise<LeadershipLostError>;
  /** Names of the events of the log, in order. */
  readonly events: readonly string[];
};

/** The folder of an installation: environment, token and secrets, as a chart mounts them. */
export async function layOut(
  folder: string,
  files: Readonly<Record<string, string>> = {},
): Promise<Pick<ClusterConfig, 'environmentDirectory' | 'runtimeTokenFile' | 'secretsDirectory'>> {
  const places = {
    environmentDirectory: join(folder, 'environment'),
    runtimeTokenFile: join(folder, 'runtime.token'),
    secretsDirectory: join(folder, 'secrets'),
  };
  for (const path of [places.environmentDirectory, places.secretsDirectory]) await mkdir(path, { recursive: true });
  await writeFile(places.runtimeTokenFile, 'a-token\n');
  const all = { 'providers.yaml': testProviders, 'workload.yaml': testWorkload, ...files };
  for (const [name, text] of Object.entries(all)) await writeFile(join(places.environmentDirectory, name), text);
  return places;
}

/** An operator of cluster mode in this process, with a real API server. */
export async function startClusterOperator(
  server: ApiServer,
  namespace: WorkloadNamespace,
  folder: string,
  change: Partial<ClusterConfig> & {
    readonly files?: Readonly<Record<string, string>>;
    readonly overrides?: OperatorOverrides;
  } = {},
): Promise<ClusterOperator> {
  const { files, overrides, ...config } = change;
  const events: string[] = [];
  const destination = { write: (line: string) => void events.push((JSON.parse(line) as { event: string }).event) };
  const lost = Promise.withResolvers<LeadershipLostError>();
  const operator = await createOperator(
    {
      mode: 'cluster',
      api: { kind: 'kubeconfig', file: server.controlPlane.kubeconfigFile },
      ...(await layOut(folder, files)),
      replica: 'operator-0',
      leaseName: 'portcullis-operator',
      listen: { host: '127.0.0.1', port: 0 },
      namespace: namespace.client.namespace,
      cacheDirectory: undefined,
      progressDeadlineMs: 600_000,
      maxStreamMs: 900_000,
      retrieval: undefined,
      authority: undefined,
      build: undefined,
      namesUsers: false,
      ...config,
    },
    { logger: createLogger({ service: 'operator', level: 'info', destination }), onLost: lost.resolve, ...overrides },
  );
  return { operator, lost: lost.promise, events, [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose]() };
}

/** A gateway replica as the operator sees it: a running pod and its report. */
export async function startGatewayPod(
  { client }: WorkloadNamespace,
  folder: string,
  name: string,
  gateway = 'default',
): Promise<FakeReplica> {
  const labels = {
    'app.kubernetes.io/component': 'gateway',
    'app.kubernetes.io/part-of': 'portcullis',
    'portcullis.dev/gateway': gateway,
  };
  const restricted = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const spec = {
    automountServiceAccountToken: false,
    containers: [{ name: 'gateway', image: 'x', securityContext: restricted }],
  };
  await until('the account of the namespace is there', async () => {
    await client.create<Pod>(builtinKinds.pod, { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec });
    return true;
  });
  const container = { name: 'gateway', ready: true, restartCount: 0, image: 'x', imageID: '', state: { running: {} } };
  const value = { phase: 'Running', containerStatuses: [container] };
  await client.patchStatus(builtinKinds.pod, name, [{ op: 'add', path: '/status', value }]);
  return startFakeReplica({ client, data: folder }, name, gateway);
}
