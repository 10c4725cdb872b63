import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap, Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { createWorkQueue } from '#kube/queue/work-queue';
import { startReflector } from '#kube/watch/reflector';
import { workloadLabel } from '../../operator/workloads/resources/workload-labels.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { setEndpoints } from '../workloads/set-endpoints.ts';
import { addressOfWorkload } from './workload-address.ts';

const workloadPort = 8_000;
/** Terminating pods keep serving for this duration, like a preStop hook. */
const preStopMs = 5_000;

export type LocalNode = AsyncDisposable & {
  /** Running processes. */
  readonly running: () => number;
  /** Number of processes that were started up to now. */
  readonly started: () => number;
};

/** Acts as the kubelet of runtime pods: runs each pod as a process on the loopback address of its Service. */
export function startLocalNode(options: {
  readonly client: KubeClient;
  readonly folder: string;
  readonly tokenFile: string;
}): LocalNode {
  const { client, folder, tokenFile } = options;
  const processes = new Map<string, RunningProcess>();
  const ending = new Set<Promise<unknown>>();
  let started = 0;
  mkdirSync(folder, { recursive: true });

  async function bundleOf({ spec }: Pod): Promise<string> {
    const volumes = (spec as { readonly volumes?: readonly { readonly configMap?: { readonly name: string } }[] })
      .volumes;
    const name =
      volumes?.find(({ configMap }) => configMap?.name.startsWith('portcullis-bundle-'))?.configMap?.name ?? '';
    const map = await client.get<ConfigMap>(builtinKinds.configMap, name);
    const path = join(folder, `${name}.json`);
    writeFileSync(path, map?.data?.['bundle.json'] ?? '');
    return path;
  }

  async function start(pod: Pod): Promise<RunningProcess> {
    const workload = pod.metadata.labels?.['portcullis.dev/workload'] ?? '';
    const runtime = await startProcess({
      file: 'runtime/main.ts',
      environment: {
        PORTCULLIS_LISTEN: `${addressOfWorkload(workload)}:${workloadPort}`,
        PORTCULLIS_BUNDLE_FILE: await bundleOf(pod),
        PORTCULLIS_TOKEN_FILE: tokenFile,
      },
    });
    started += 1;
    await until('the runtime is ready', async () => (await fetch(`${runtime.url}/readyz`)).status === 200);
    return runtime;
  }

  async function markReady(name: string): Promise<void> {
    const container = {
      name: 'runtime',
      ready: true,
      restartCount: 0,
      image: 'x',
      imageID: '',
      state: { running: {} },
    };
    const conditions = [{ type: 'Ready', status: 'True' }];
    const value = { phase: 'Running', conditions, containerStatuses: [container] };
    await client.patchStatus(builtinKinds.pod, name, [{ op: 'add', path: '/status', value }]);
  }

  function end(name: string): void {
    const runtime = processes.get(name);
    if (runtime === undefined) return;
    processes.delete(name);
    const ended = new Promise((resolve) => setTimeout(resolve, preStopMs)).then(() => runtime.end('SIGTERM'));
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  }

  async function look(name: string): Promise<void> {
    const pod = pods.store.get(name);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return end(name);
    if (!processes.has(name)) processes.set(name, await start(pod));
    try {
      await markReady(name);
      const workload = pod.metadata.labels?.[workloadLabel] ?? '';
      const served = pods.store.list().filter(({ metadata }) => metadata.labels?.[workloadLabel] === workload);
      await setEndpoints(
        client,
        workload,
        served.filter(({ metadata }) => metadata.deletionTimestamp === undefined && processes.has(metadata.name)),
      );
    } catch (error) {
      if (!isKubeError(error, 'not_found')) throw error;
    }
  }

  const queue = createWorkQueue({ process: look, concurrency: 2, onError: () => undefined, maxBackoffMs: 2_000 });
  const pods = startReflector<Pod>({
    client,
    kind: builtinKinds.pod,
    labelSelector: 'app.kubernetes.io/name=portcullis-runtime',
    logger: { info: () => undefined, warn: () => undefined },
    onChange(name, current, previous) {
      if (current === undefined || previous === undefined) queue.add(name);
    },
  });
  return {
    running: () => processes.size,
    started: () => started,
    async [Symbol.asyncDispose]() {
      await pods[Symbol.asyncDispose]();
      await queue[Symbol.asyncDispose]();
      await Promise.all([...processes.values()].map((runtime) => runtime.end('SIGKILL')));
      await Promise.all(ending);
    },
  };
}
