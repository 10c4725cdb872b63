import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeClient } from '#kube/client/client';
import type { GatewayRoute } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { Attitude, FakeReplica } from '../../operator/testing/fake-replica.ts';
import type { ApiServer } from '../kube/open-api-server.ts';
import { openWorkloadNamespace, type WorkloadNamespace } from '../workloads/open-workload-namespace.ts';
import { type ClusterOperator, startClusterOperator, startGatewayPod } from '../workloads/start-cluster-operator.ts';
import { type Plugin, pluginFor } from './run-plugin.ts';

const lookEveryMs = 150;

/** An installation in a separate namespace: an operator in cluster mode, with the test as kubelet and gateway. */
export type KubectlInstallation = AsyncDisposable & {
  readonly client: KubeClient;
  readonly namespace: WorkloadNamespace;
  readonly plugin: Plugin;
  /** Runs the plugin and parses its JSON output. */
  json<T = unknown>(...args: readonly string[]): Promise<T>;
  /** @param files files of the operator's environment */
  startOperator(files?: Readonly<Record<string, string>>): Promise<void>;
  /** Names of the log events of all started operators. */
  readonly events: readonly string[];
  stopOperator(): Promise<void>;
  /** A pod of a gateway and its reports. */
  startReplica(name: string): Promise<void>;
  /** A pod of a gateway whose reports another process writes. */
  startPod(name: string): Promise<void>;
  /** Sets the response of every replica to a route. */
  setAttitude(decide: (route: Stored<GatewayRoute>) => Attitude): void;
};

export async function openInstallation(server: ApiServer): Promise<KubectlInstallation> {
  const namespace = await openWorkloadNamespace(server);
  const { client } = namespace;
  const folder = await mkdtemp(join(tmpdir(), 'portcullis-kubectl-'));
  const plugin = pluginFor(server.controlPlane.kubeconfigFile, client.namespace);
  const replicas: FakeReplica[] = [];
  let decide: (route: Stored<GatewayRoute>) => Attitude = () => 'take';
  let operator: ClusterOperator | undefined;
  let isOpen = true;

  /** Every pod of a workload runs and is ready; every replica reports. */
  async function beat(): Promise<void> {
    const { items } = await client.list<RuntimeWorkload>(kinds.runtimeWorkload);
    // A pod may be deleted between two calls.
    for (const { metadata } of items) await namespace.setPods(metadata.name, true).catch(() => 0);
    for (const replica of replicas) await replica.report(decide);
  }
  async function run(): Promise<void> {
    while (isOpen) {
      // A conflict with the operator is retried at the next interval.
      await beat().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }
  const running = run();
  const events: string[] = [];
  async function stopOperator(): Promise<void> {
    events.push(...(operator?.events ?? []));
    await operator?.[Symbol.asyncDispose]();
    operator = undefined;
  }

  return {
    client,
    namespace,
    plugin,
    async json<T>(...args: readonly string[]) {
      const { stdout, stderr } = await plugin([...args, '-o', 'json']);
      if (stdout === '') throw new Error(`the plugin printed no JSON: ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    events,
    async startOperator(files = {}) {
      operator = await startClusterOperator(server, namespace, folder, { files });
    },
    stopOperator,
    startPod: async (name) => void (await startGatewayPod(namespace, folder, name)),
    async startReplica(name) {
      replicas.push(await startGatewayPod(namespace, folder, name));
    },
    setAttitude(next) {
      decide = next;
    },
    async [Symbol.asyncDispose]() {
      isOpen = false;
      await running;
      await stopOperator();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
