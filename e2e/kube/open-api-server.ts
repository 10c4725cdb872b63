import { randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ClientOptions, createClient, type KubeClient } from '#kube/client/client';
import type { ClusterAccess } from '#kube/client/cluster-access';
import { loadKubeconfig } from '#kube/client/credentials';
import { retrying } from '#kube/client/retrying-client';
import { kinds } from '#resources/kinds';
import { root } from '../../hack/check/run-tool.ts';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../../hack/cluster/life/start-control-plane.ts';
import { cacheFolder } from '../../hack/cluster/machine/places.ts';

const servedMs = 60_000;

/** The reason why there is no API server for tests; undefined if there is one. Tests do not build it. */
export const missingApiServer: string | undefined = findPrograms();

function findPrograms(): string | undefined {
  const built = globSync(join(cacheFolder(), 'programs', 'kubernetes', '*', 'kube-apiserver'));
  const isComplete = built.some((program) => existsSync(join(program, '..', 'etcd')));
  return isComplete ? undefined : 'kube-apiserver and etcd are not built: hack/cluster builds them';
}

/** The title of a suite that needs the API server, with the reason when it is skipped. */
export function onApiServer(title: string): string {
  return missingApiServer === undefined ? title : `${title} (${missingApiServer})`;
}

export type ApiServer = AsyncDisposable & {
  readonly controlPlane: ControlPlane;
  /** Access as an administrator. */
  readonly access: ClusterAccess;
  /** Creates a namespace with a unique name and a client for it; the client is disposed with the server. */
  client(options?: Partial<ClientOptions>): Promise<KubeClient>;
  kubectl(...args: readonly string[]): Promise<string>;
};

/** A real kube-apiserver with the CustomResourceDefinitions and admission policies of Portcullis. */
export async function openApiServer(options: ControlPlaneOptions = {}): Promise<ApiServer> {
  await using parts = new AsyncDisposableStack();
  const controlPlane = parts.use(await startControlPlane(options));
  const server = parts.use(await connectApiServer(controlPlane));
  const owned = parts.move();
  return { ...server, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Opens the same API on a control plane that already runs; disposing it only closes its clients. */
export async function connectApiServer(controlPlane: ControlPlane): Promise<ApiServer> {
  const kubectl = (...args: readonly string[]): Promise<string> => kubectlOk(controlPlane.kubeconfigFile, args);
  await kubectl('apply', '--server-side', ...definitions().flatMap((file) => ['-f', file]));
  await kubectl('wait', '--for=condition=Established', '--timeout=60s', 'customresourcedefinitions', '--all');
  const access = await loadKubeconfig({ file: controlPlane.kubeconfigFile });
  await untilServed(access);
  const clients = new AsyncDisposableStack();
  return {
    controlPlane,
    access,
    kubectl,
    async client(more = {}) {
      const namespace = `test-${randomBytes(4).toString('hex')}`;
      await kubectl('create', 'namespace', namespace);
      return clients.use(createClient({ ...access, namespace, ...more } as ClientOptions));
    },
    [Symbol.asyncDispose]: () => clients.disposeAsync(),
  };
}

/** A kind that is Established opens its storage at the first request, which may be answered with Retry-After. */
async function untilServed(access: ClusterAccess): Promise<void> {
  await using client = createClient({ ...access, namespace: 'default' });
  const retryingClient = retrying(client, servedMs);
  await Promise.all(Object.values(kinds).map((kind) => retryingClient.list(kind)));
}

function definitions(): readonly string[] {
  return [
    ...globSync(join(root, 'crds', 'portcullis.dev_*.yaml')).toSorted(),
    ...globSync(join(root, 'crds', 'admission', '*.yaml')).toSorted(),
  ];
}

/** CA and client certificate of the administrator as PEM texts. */
export function filesOf({ caFile, adminCertificateFile, adminKeyFile }: ControlPlane) {
  return {
    caPem: readFileSync(caFile, 'utf8'),
    clientCertificate: {
      cert: readFileSync(adminCertificateFile, 'utf8'),
      key: readFileSync(adminKeyFile, 'utf8'),
    },
  };
}
