import { stringify } from 'yaml';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { retrying } from '#kube/client/retrying-client';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { openApiServer } from '../kube/open-api-server.ts';
import { openWorkloadNamespace } from '../workloads/open-workload-namespace.ts';
import { startClusterOperator } from '../workloads/start-cluster-operator.ts';
import { applyUntilReady } from './measure-versions.ts';
import { startPretendedProcesses } from './pretended-processes.ts';

const template = {
  image: 'portcullis:1',
  publicUrl: 'https://agents.example.com',
  issuer: 'https://gateway.example',
  gateway: 'http://gateway.example',
  runtimeTokenSecret: 'runtime-token',
  modelGateway: { url: 'http://gateway.example' },
  gatewayPods: { app: 'gateway' },
  operatorPods: { app: 'operator' },
};

type PretendedReport = {
  /** Seconds from the start of kubectl to the last Ready. */
  readonly seconds: number;
  readonly versions: number;
  /** Writes of the operator for each version until it rested: objects, finalizer, statuses and events. */
  readonly writesOfEach: number;
  /** Writes in the seconds after the operator has rested. */
  readonly writesAtRest: number;
};

/** Applies versions to a real API server whose nodes and pods are simulated, with a real operator. */
export async function runPretended(count: number): Promise<PretendedReport> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const server = parts.use(await openApiServer({ audit: true, pretendedNodes: 4 }));
  const namespace = await openWorkloadNamespace(server);
  const client = retrying(namespace.client, 30_000);
  const pretended = parts.use(await startPretendedProcesses(client));
  parts.use(
    await startClusterOperator(server, namespace, folder, {
      files: { 'agents.yaml': stringify(template) },
      overrides: { reachAgents: pretended.reach },
    }),
  );
  const names = Array.from({ length: count }, (_, index) => `version-${index + 1}`);
  const { kubeconfigFile } = server.controlPlane;
  const { seconds } = await applyUntilReady(
    {
      client,
      apply: (text) => kubectlOk(kubeconfigFile, [`--namespace=${client.namespace}`, 'apply', '--filename=-'], text),
    },
    names,
  );
  const before = (await namespace.atRest()).length;
  const after = (await namespace.atRest()).length;
  // kubectl creates each version once.
  return { seconds, versions: count, writesOfEach: (before - count) / count, writesAtRest: after - before };
}
