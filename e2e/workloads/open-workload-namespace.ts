import { readFileSync } from 'node:fs';
import { afterEach, beforeEach } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { retrying } from '#kube/client/retrying-client';
import type { Stored } from '#resources/metadata';
import type { ApiServer } from '../kube/open-api-server.ts';
import { useApiServer } from '../kube/shared-api-server.ts';
import { setEndpoints } from './set-endpoints.ts';

/** A namespace of a real API server for restricted pods only; the test is its only kubelet. */
export type WorkloadNamespace = {
  readonly client: KubeClient;
  kubectl(...args: readonly string[]): Promise<string>;
  /** Accepted writes of Portcullis, from the audit log, as `verb resource/name`. */
  writes(): readonly string[];
  /** Waits until only leases and reports are written, and returns all writes up to now. */
  atRest(): Promise<readonly string[]>;
  /** Every pod of the workload runs, and is ready or not. @returns the number of pods */
  setPods(workload: string, isReady: boolean, container?: object): Promise<number>;
};

/** Resources that an idle operator writes. */
const ticking = /leases|gatewayreports/;
/** A busy API server may reopen the storage of a kind at any time and responds with Retry-After. */
const patienceMs = 30_000;

export async function openWorkloadNamespace(server: ApiServer): Promise<WorkloadNamespace> {
  const client = retrying(await server.client(), patienceMs);
  const { namespace } = client;
  await server.kubectl('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted');
  return {
    client,
    kubectl: (...args) => server.kubectl(`--namespace=${namespace}`, ...args),
    writes: () => readWrites(server.controlPlane.auditLogFile, namespace),
    atRest: () =>
      until('nothing is written', async () => {
        const read = () =>
          readWrites(server.controlPlane.auditLogFile, namespace).filter((line) => !ticking.test(line));
        const before = read();
        await new Promise((resolve) => setTimeout(resolve, 1_500));
        return read().length === before.length ? before : undefined;
      }),
    async setPods(workload, isReady, container = { state: { running: {} } }) {
      const labelSelector = `portcullis.dev/workload=${workload}`;
      const { items } = await client.list<Pod>(builtinKinds.pod, { labelSelector });
      const living = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      await setEndpoints(client, workload, isReady ? living : []);
      for (const pod of living) await setPod(client, pod, isReady, container);
      return living.length;
    },
  };
}

/** Provides, for each test of a suite, a namespace of the shared API server, and a folder. */
type WorkloadWorld = {
  readonly server: ApiServer;
  readonly namespace: WorkloadNamespace;
  readonly folder: string;
};

export function useWorkloadWorld(): WorkloadWorld {
  const server = useApiServer();
  const current: { namespace?: WorkloadNamespace; folder?: ReturnType<typeof temporaryFolder> } = {};
  beforeEach(async () => {
    current.namespace = await openWorkloadNamespace(server);
    current.folder = temporaryFolder();
  });
  afterEach(() => current.folder?.[Symbol.dispose]());
  return {
    server,
    get namespace() {
      return current.namespace as WorkloadNamespace;
    },
    get folder() {
      return current.folder?.path ?? '';
    },
  };
}

async function setPod(client: KubeClient, pod: Stored<Pod>, isReady: boolean, container: object): Promise<void> {
  const status = { name: 'runtime', ready: isReady, restartCount: 0, image: 'x', imageID: '', ...container };
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
  const value = { phase: 'Running', conditions, containerStatuses: [status] };
  await client.patchStatus(builtinKinds.pod, pod.metadata.name, [{ op: 'add', path: '/status', value }]);
}

type AuditEntry = {
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly namespace?: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
};

const writing = new Set(['create', 'update', 'patch', 'delete']);

/** Kubernetes controllers write as their own users; the test writes pods as a kubelet. */
function readWrites(path: string, namespace: string): readonly string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as AuditEntry)
    .filter(({ stage, verb }) => stage === 'ResponseComplete' && writing.has(verb))
    .filter(({ user, objectRef }) => !user.username.startsWith('system:') && objectRef?.namespace === namespace)
    .filter(({ objectRef }) => !['pods', 'namespaces', 'endpointslices'].includes(objectRef?.resource ?? ''))
    .map(({ verb, objectRef, responseStatus }) => {
      const refusal = (responseStatus?.code ?? 500) < 300 ? '' : `, refused with ${responseStatus?.code}`;
      return `${verb} ${objectRef?.resource}/${objectRef?.name ?? ''}${refusal}`;
    });
}
