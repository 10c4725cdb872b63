import type { AgentState } from '#contracts/agent-state';
import { createLogger } from '#kit/log/logger';
import { createMetrics } from '#kit/metrics/metrics';
import { systemClock } from '#kit/time/clock';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ContainerStatus, Pod } from '#kube/client/builtin-types';
import { createClient, type KubeClient } from '#kube/client/client';
import { type FakeApiServer, startFakeApiServer } from '#kube/testing/fake-api-server';
import { agentTemplateSchema } from '../../../../environment/agent-template.ts';
import { createReconcileMeter } from '../../../../reconcile/reconcile-metrics.ts';
import { versionBundleSchema } from '../../../agent-bundle.ts';
import { type AgentDeployments, createAgentDeployments } from '../agent-deployments.ts';
import { agentPodLabels, agentWorkloadLabel } from '../resources/agent-labels.ts';
import { agentBundleKey } from '../resources/agent-pod.ts';
import { startAnsweringProcess } from './answering-process.ts';

export const testAgentTemplate = agentTemplateSchema.parse({
  image: 'portcullis:1',
  publicUrl: 'https://agents.example',
  issuer: 'https://gateway.example',
  gateway: 'http://gateway.team.svc',
  retrieval: { url: 'http://retrieval.team.svc', pods: { app: 'retrieval' } },
  memory: { url: 'http://memory.team.svc', pods: { app: 'memory' } },
  runtimeTokenSecret: 'runtime-token',
  modelGateway: { url: 'http://gateway.team.svc', secret: 'client-keys', key: 'agents' },
  gatewayPods: { app: 'gateway' },
  operatorPods: { app: 'operator' },
});

/** The objects of agents on a small API server, with a process for each pod; the test plays the kubelet. */
export type AgentCluster = AsyncDisposable & {
  readonly agents: AgentDeployments;
  readonly server: FakeApiServer;
  readonly client: KubeClient;
  /** The served revision of each policy, by the name of the policy. */
  readonly served: Map<string, string>;
  /** Names of the resources whose observation changed, in order. */
  readonly changes: readonly string[];
  /** Replaces the state that every simulated agent process reports. */
  answer(change: Partial<AgentState>): void;
  /** Sets the JSON that processes of images answer, by path. */
  serve(paths: Readonly<Record<string, unknown>>): void;
  /** The writes of the operator up to now, as `METHOD path`. */
  writes(): readonly string[];
  /** Runs the process of the stored bundle in a pod of the workload. */
  runPod(workload: string, isReady?: boolean): Promise<void>;
  /** Ends the process of the pod, which the kubelet reports. */
  failPod(workload: string): void;
  /** Ends this operator and starts an operator with another image. */
  upgrade(image: string): Promise<void>;
};

const ready = (isReady: boolean) => [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
const ended = { exitCode: 137, reason: 'OOMKilled' };

export async function openAgentCluster(): Promise<AgentCluster> {
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startFakeApiServer());
  const client = parts.use(createClient({ url: server.url, tokenFile: { first: () => 't' }, namespace: 'team' }));
  const logger = createLogger({ service: 'test', level: 'error', destination: { write: () => undefined } });
  const process = parts.use(await startAnsweringProcess());
  const served = new Map([['texts', '2']]);
  const changes: string[] = [];
  /** IP addresses of the simulated pods, by the name of their workload. */
  const addresses = new Map<string, string>();

  function create(image: string): AgentDeployments {
    const made = createAgentDeployments({
      client,
      template: { ...testAgentTemplate, image },
      servedRevision: (policy) => served.get(policy),
      clock: systemClock,
      logger,
      meter: createReconcileMeter(createMetrics({ service: 'test' })),
      reach: process.reach,
    });
    made.onChange((resource) => void changes.push(resource));
    return made;
  }

  function report(workload: string, isReady: boolean, state: Partial<ContainerStatus> = {}): void {
    const podIP = addresses.get(workload);
    if (podIP === undefined) throw new Error(`there is no pod of ${workload}`);
    const container = { name: 'agent', ready: isReady, restartCount: 0, ...state };
    const status = { phase: 'Running', podIP, conditions: ready(isReady), containerStatuses: [container] };
    server.change('pods', podOf(workload), (object) => Object.assign(object, { status }));
  }

  let agents = create(testAgentTemplate.image);
  await agents.synced;
  const owned = parts.move();
  return {
    get agents() {
      return agents;
    },
    server,
    client,
    served,
    changes,
    answer: process.answer,
    serve: process.serve,
    writes: () => server.seen.filter((line) => !line.startsWith('GET') && !/\/pods\b/.test(line)),
    async runPod(workload, isReady = true) {
      const { data } = server.object('configmaps', workload) as unknown as { readonly data: Record<string, string> };
      const ip = addresses.get(workload) ?? `10.0.0.${addresses.size + 1}`;
      addresses.set(workload, ip);
      process.run(ip, versionBundleSchema.parse(JSON.parse(data[agentBundleKey] ?? '')));
      if (server.object('pods', podOf(workload)) === undefined) {
        await client.create<Pod>(builtinKinds.pod, makePod(workload));
      }
      report(workload, isReady);
    },
    failPod(workload) {
      process.end(addresses.get(workload) ?? '');
      report(workload, false, { lastState: { terminated: ended } });
    },
    async upgrade(image) {
      await agents[Symbol.asyncDispose]();
      agents = create(image);
      await agents.synced;
    },
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      await owned.disposeAsync();
    },
  };
}

const podOf = (workload: string): string => `${workload}-5d8f-x`;

function makePod(workload: string): Pod {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${workload}-5d8f`, uid: 'r', controller: true };
  const labels = { ...agentPodLabels, [agentWorkloadLabel]: workload };
  const metadata = { name: podOf(workload), labels, ownerReferences: [owner] };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] } };
}
