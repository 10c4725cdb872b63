import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { createClient, type KubeClient } from '#kube/client/client';
import { loadKubeconfig } from '#kube/client/credentials';
import { kinds } from '#resources/kinds';
import { root } from '../../../hack/check/run-tool.ts';
import { buildPrograms } from '../../../hack/cluster/build/build-programs.ts';
import { kubectlOk } from '../../../hack/cluster/control-plane/kubectl.ts';
import { buildImages } from '../../../hack/cluster/image/build-images.ts';
import { bringUp } from '../../../hack/cluster/life/bring-up.ts';
import { loadImage } from '../../../hack/cluster/life/load-image.ts';
import { takeDown } from '../../../hack/cluster/life/take-down.ts';
import { kubeconfigOfCluster } from '../../../hack/cluster/machine/places.ts';
import { silentProgress } from '../../../hack/cluster/machine/progress.ts';
import { runClusterProgram } from '../../../hack/cluster/process/run-program.ts';
import { readRecord } from '../../../hack/cluster/record/record.ts';
import { applyRevision, bindingNow, bindingOf, conditionOf, policyOf, writePolicy } from '../../support/resources.ts';
import { markedDefinition } from '../cutover/marked-policy.ts';
import {
  endTraffic,
  type Kubectl,
  lastLine,
  type PodReport,
  startTrafficPod,
  trafficName,
  untilTrafficFlows,
} from './traffic-pod.ts';

type ClusterCutoverReport = PodReport & {
  readonly applications: number;
  /** Seconds from the first application to the last confirmation. */
  readonly seconds: number;
  /** Restarts of containers. */
  readonly restarts: number;
};

const clusterName = 'cutover';
const namespace = 'cutover';
const release = 'portcullis';
const alias = 'cutover';
const gatewayPort = 8_080;
const image = { repository: 'localhost/portcullis', tag: 'cutover' };

/**
 * Applies one revision after another on a complete cluster with two gateway replicas, while one of its pods sends
 * requests.
 */
export async function runClusterCutover(options: {
  readonly applications: number;
  readonly say: (progress: string) => void;
}): Promise<ClusterCutoverReport> {
  const { applications, say } = options;
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  await bringUp({ name: clusterName, node: 'any' }, silentProgress);
  parts.defer(() => takeDown(clusterName, silentProgress));
  await loadOwnImage(folder);
  say('the cluster runs and has the image');
  const kubeconfigFile = kubeconfigOfCluster(clusterName);
  const kubectl: Kubectl = (args, input) => kubectlOk(kubeconfigFile, [`--namespace=${namespace}`, ...args], input);
  await kubectl(['create', 'namespace', namespace]);
  await install(folder, kubeconfigFile);
  say('the chart is installed');
  const client = parts.use(createClient({ ...(await loadKubeconfig({ file: kubeconfigFile })), namespace }));
  await startTrafficPod(kubectl, {
    image: `${image.repository}:${image.tag}`,
    urls: await replicasOf(kubectl),
    keys: `${release}-client-keys`,
    alias,
  });
  const first = await writePolicy(client, policyOf(alias, markedDefinition(1, applications + 1)));
  await client.create(kinds.modelBinding, bindingOf(alias, alias, first));
  await applied(client, 1);
  await untilTrafficFlows(kubectl);
  const begun = performance.now();
  for (let turn = 1; turn <= applications; turn += 1) {
    const revision = await writePolicy(client, policyOf(alias, markedDefinition(turn + 1, applications + 1)));
    await applied(client, await applyRevision(client, alias, revision, `turn-${turn}`));
    if (turn % 10 !== 0) continue;
    const seen = await lastLine(kubectl);
    say(`${turn} of ${applications} applications, ${seen?.requests} requests, ${seen?.faults} failed`);
  }
  const seconds = (performance.now() - begun) / 1_000;
  const report = await endTraffic(kubectl);
  return { ...report, applications, seconds, restarts: await countRestarts(kubectl) };
}

async function loadOwnImage(folder: string): Promise<void> {
  const record = readRecord(clusterName);
  if (record === undefined) throw new Error('a cluster that was brought up has a record');
  const { archiveFile } = buildImages(join(folder, 'images.tar'), image.tag);
  await loadImage(record, archiveFile);
}

async function install(folder: string, kubeconfigFile: string): Promise<void> {
  const small = { requests: { cpu: '20m', memory: '64Mi' } };
  const values = {
    image,
    providers: [
      {
        name: 'scripted',
        kind: 'model',
        endpoint: `http://${trafficName}.${namespace}.svc:8080/v1`,
        enabled: true,
      },
    ],
    example: { enabled: false },
    echo: { enabled: false },
    // With this size the workloads that long streams keep in use fit on one node.
    runtime: { resources: small },
    gateway: { replicas: 2, logLevel: 'warn', resources: small },
  };
  const file = join(folder, 'values.yaml');
  writeFileSync(file, stringify(values));
  const { helm } = await buildPrograms(['helm'], silentProgress);
  const chart = join(root, 'charts', 'portcullis');
  const wait = ['--wait', '--timeout=10m'];
  await runClusterProgram(helm, [
    'install',
    release,
    chart,
    `--namespace=${namespace}`,
    `--kubeconfig=${kubeconfigFile}`,
    `--values=${file}`,
    ...wait,
  ]);
}

function applied(client: KubeClient, generation: number): Promise<unknown> {
  const isApplied = async (): Promise<boolean> => {
    const binding = await bindingNow(client, alias);
    return binding.metadata.generation === generation && conditionOf(binding, 'Applied')?.status === 'True';
  };
  return until('the revision is applied', isApplied, { deadlineMs: 180_000, everyMs: 100 });
}

/**
 * Each replica is called directly, because through a Service a persistent connection would choose a replica at random.
 */
async function replicasOf(kubectl: Kubectl): Promise<readonly string[]> {
  const selector = '--selector=app.kubernetes.io/component=gateway';
  const text = await kubectl(['get', 'pods', selector, '--output=jsonpath={.items[*].status.podIP}']);
  return text.split(' ').map((address) => `http://${address}:${gatewayPort}`);
}

async function countRestarts(kubectl: Kubectl): Promise<number> {
  const text = await kubectl(['get', 'pods', '--output=jsonpath={.items[*].status.containerStatuses[*].restartCount}']);
  return text.split(' ').reduce((sum, count) => sum + Number(count), 0);
}
