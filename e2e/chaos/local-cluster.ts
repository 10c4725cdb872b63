import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FaultyProxy, startFaultyProxy } from '#kit/testing/faulty-proxy';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Lease, Pod } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { root } from '../../hack/check/run-tool.ts';
import { type ApiServer, filesOf, openApiServer } from '../kube/open-api-server.ts';
import { type KeptProcess, keepProcess } from './kept-process.ts';
import { type LocalNode, startLocalNode } from './local-node.ts';

/** One process of an installation, and the proxy between it and the API server. */
export type Part = { readonly name: string; readonly process: KeptProcess; readonly proxy: FaultyProxy };

/**
 * An installation without containers: a real API server with its controllers, processes of operators, gateways and
 * runtimes, and a proxy with injected faults between each operator or gateway and the API server.
 */
export type LocalCluster = AsyncDisposable & {
  readonly server: ApiServer;
  /** A client with administrator rights that bypasses the proxies. */
  readonly client: KubeClient;
  readonly node: LocalNode;
  readonly operators: readonly Part[];
  readonly gateways: readonly Part[];
  /** The operator that holds the lease. */
  leader(): Promise<Part | undefined>;
};

export const chaosClientKey = 'client-key-of-a-test';

export async function startLocalCluster(options: {
  /** Endpoint of the provider `scripted`. */
  readonly upstream: string;
}): Promise<LocalCluster> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  const server = parts.use(await openApiServer({ controllers: true }));
  const client = await server.client();
  const { namespace } = client;
  await layOut(folder, options.upstream);
  const tokenFile = await makeAccount(server, namespace, folder);
  const node = parts.use(
    startLocalNode({ client, folder: join(folder, 'bundles'), tokenFile: join(folder, 'runtime.token') }),
  );
  const { caPem } = filesOf(server.controlPlane);

  async function start(name: string, file: string, environment: Readonly<Record<string, string>>): Promise<Part> {
    const proxy = parts.use(await startFaultyProxy(server.controlPlane.url, { ca: caPem }));
    const kept = parts.use(
      keepProcess({
        file,
        environment: {
          PORTCULLIS_API_URL: proxy.url,
          PORTCULLIS_API_TOKEN_FILE: tokenFile,
          PORTCULLIS_NAMESPACE: namespace,
          PORTCULLIS_REPLICA: name,
          PORTCULLIS_RUNTIME_TOKEN_FILE: join(folder, 'runtime.token'),
          PORTCULLIS_SECRETS_DIR: join(folder, 'secrets'),
          NODE_OPTIONS: `--import=${root}/e2e/chaos/resolve-workloads.ts`,
          ...environment,
        },
      }),
    );
    await until(`${name} runs`, () => kept.now() !== undefined, { deadlineMs: 60_000 });
    return { name, process: kept, proxy };
  }

  const operatorEnvironment = {
    PORTCULLIS_MODE: 'cluster',
    PORTCULLIS_ENVIRONMENT_DIR: join(folder, 'environment'),
  };
  const operators: Part[] = [];
  for (const name of ['operator-0', 'operator-1']) {
    operators.push(await start(name, 'operator/main.ts', operatorEnvironment));
  }
  const gateways: Part[] = [];
  for (const name of ['gateway-0', 'gateway-1']) {
    await makeGatewayPod(client, name);
    const keys = { PORTCULLIS_CLIENT_KEYS_FILE: join(folder, 'client.keys') };
    gateways.push(await start(name, 'dataplane/gateway/main.ts', keys));
  }
  const owned = parts.move();
  return {
    server,
    client,
    node,
    operators,
    gateways,
    async leader() {
      const lease = await client.get<Lease>(builtinKinds.lease, 'portcullis-operator');
      const holder = lease?.spec.holderIdentity?.split('_')[0];
      return operators.find(({ name }) => name === holder);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function layOut(folder: string, upstream: string): Promise<void> {
  for (const name of ['environment', 'secrets']) await mkdir(join(folder, name), { recursive: true });
  const provider = `{ name: scripted, kind: model, endpoint: "${upstream}/v1", enabled: true }`;
  const files = {
    'runtime.token': 'a-token\n',
    'client.keys': `${chaosClientKey} test\n`,
    'environment/providers.yaml': `providers:\n  - ${provider}\n`,
    'environment/workload.yaml': 'image: portcullis:1\ntokenSecret: token\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text, { mode: 0o600 });
}

async function makeAccount(server: ApiServer, namespace: string, folder: string): Promise<string> {
  await server.kubectl('-n', namespace, 'create', 'serviceaccount', 'portcullis');
  const account = `--serviceaccount=${namespace}:portcullis`;
  await server.kubectl('create', 'clusterrolebinding', `chaos-${namespace}`, '--clusterrole=cluster-admin', account);
  const file = join(folder, 'api.token');
  await writeFile(file, await server.kubectl('-n', namespace, 'create', 'token', 'portcullis', '--duration=4h'));
  return file;
}

/** The Pod object of a gateway replica, with phase Running. */
async function makeGatewayPod(client: KubeClient, name: string): Promise<void> {
  const labels = {
    'app.kubernetes.io/component': 'gateway',
    'app.kubernetes.io/part-of': 'portcullis',
    'portcullis.dev/gateway': 'default',
  };
  const spec = { automountServiceAccountToken: false, containers: [{ name: 'gateway', image: 'x' }] };
  await until('the service account of the namespace exists', async () => {
    await client.create<Pod>(builtinKinds.pod, { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels }, spec });
    return true;
  });
  const container = { name: 'gateway', ready: true, restartCount: 0, image: 'x', imageID: '', state: { running: {} } };
  const value = { phase: 'Running', containerStatuses: [container] };
  await client.patchStatus(builtinKinds.pod, name, [{ op: 'add', path: '/status', value }]);
}
