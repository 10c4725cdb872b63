import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ensureGatewayKeys, readGatewayKeys } from '#identity/gateway-keys';
import type { GatewayKey } from '#identity/gateway-token';
import { createTestKey, type TestKey } from '#identity/testing/test-issuer';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { createClient, type KubeClient } from '#kube/client/client';
import { loadKubeconfig } from '#kube/client/credentials';
import { buildPrograms } from '../../hack/cluster/build/build-programs.ts';
import { kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { kubeconfigOfCluster } from '../../hack/cluster/machine/places.ts';
import type { ProgressReporter } from '../../hack/cluster/machine/progress.ts';
import { createNamespace } from '../chart/foreign/own-namespace.ts';
import { startOwnCluster } from '../chart/own-cluster.ts';
import type { Timetable } from '../chart/timetable.ts';
import { imageValues, type TestImage } from '../chart/tools/chart-values.ts';
import { chartFolder, helmOk } from '../chart/tools/helm.ts';
import { type ClusterAnswer, type ClusterRequest, type ServicesKubectl, startClientPod } from './client-pod.ts';
import { filesKey, filesUrl } from './files-pod.ts';

const clusterName = 'services';
const namespace = 'services';
const release = 'portcullis';
/** Issuer of the tokens of people, and of the tokens with which the gateway calls agents. */
export const issuers = { people: 'https://people.example', gateway: 'https://gateway.example' } as const;
/** Audience of the tokens of people, and their tenant. */
export const audienceOfPeople = 'portcullis';
export const tenant = 'acme';
/** Origin at which clients reach agents. */
export const publicUrl = 'https://agents.example.com';

/** The chart with retrieval, memory, agents and their catalogue on a node of this machine. */
export type ServicesCluster = AsyncDisposable & {
  readonly client: KubeClient;
  readonly kubectl: ServicesKubectl;
  /** The image of the platform. */
  readonly image: TestImage;
  /** Signs the tokens of people. */
  readonly key: TestKey;
  /** Signs the tokens of the gateway. */
  readonly gatewayKey: GatewayKey;
  /** Origin of a Service of the release, within the cluster. */
  service(name: string): string;
  /** Sends a request from a pod of the cluster. */
  call(request: ClusterRequest): Promise<ClusterAnswer>;
};

export async function openServicesCluster(
  timetable: Timetable,
  progress: ProgressReporter,
  /** Whether retrieval, memory and catalogue also run. */
  withServices = true,
): Promise<ServicesCluster> {
  await using parts = new AsyncDisposableStack();
  const folder = parts.use(temporaryFolder()).path;
  await buildPrograms(['kubectl', 'helm'], progress);
  const cluster = parts.use(await startOwnCluster(clusterName, ['services'], {}, timetable, progress));
  const [image] = cluster.images;
  if (image === undefined) throw new TypeError('each tag has an image');
  const kubeconfigFile = kubeconfigOfCluster(clusterName);
  const kubectl: ServicesKubectl = (args, input) =>
    kubectlOk(kubeconfigFile, [`--namespace=${namespace}`, ...args], input);
  await createNamespace(kubeconfigFile, namespace);
  const key = await createTestKey('EdDSA', 'first');
  const keysFile = join(folder, 'keys.json');
  await ensureGatewayKeys(keysFile);
  const [gatewayKey] = await readGatewayKeys(keysFile);
  await kubectl(['create', 'secret', 'generic', 'signing-keys', `--from-file=${keysFile}`]);
  await kubectl(['create', 'secret', 'generic', filesKey.secret, `--from-literal=token=${filesKey.token}`]);
  const values = join(folder, 'values.yaml');
  writeFileSync(values, stringify(valuesOf(key, withServices)));
  const install = ['install', release, chartFolder, `--namespace=${namespace}`, `--values=${values}`];
  await timetable.timed('install', 'helm install ... --wait', () =>
    helmOk([...install, ...imageValues(image), '--wait', '--timeout=10m'], kubeconfigFile),
  );
  const bound = ['wait', '--for=condition=Ready', 'modelbinding.portcullis.dev/guarded-echo', '--timeout=8m'];
  await timetable.timed('example', `kubectl ${bound.join(' ')}`, () => kubectl(bound));
  const call = await startClientPod(kubectl, image);
  const client = parts.use(createClient({ ...(await loadKubeconfig({ file: kubeconfigFile })), namespace }));
  const owned = parts.move();
  return {
    client,
    kubectl,
    image,
    key,
    gatewayKey,
    service: (name) => `http://${release}-${name}.${namespace}.svc`,
    call,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function valuesOf({ jwk }: TestKey, withServices: boolean): object {
  const small = { requests: { cpu: '10m', memory: '48Mi' }, limits: { memory: '512Mi' } };
  const trusted = { issuer: issuers.people, audience: audienceOfPeople, tenants: [tenant], jwks: { keys: [jwk] } };
  const embedding = [{ id: 'offline', model: 'guarded-echo', dimension: 384, sendDimension: true, maxTokens: 2_000 }];
  const service = { enabled: withServices, issuers: [trusted], profiles: { embedding } };
  return {
    operator: { replicas: 1, resources: small },
    gateway: { replicas: 1, resources: small },
    runtime: { resources: small },
    management: { enabled: false },
    retrieval: { ...service, collections: { tenants: [tenant] }, staging: { claim: { size: '256Mi' } } },
    memory: { ...service, embeddingProfile: 'offline' },
    catalogue: { ...service, embeddingProfile: 'offline' },
    agents: {
      enabled: true,
      publicUrl,
      issuer: issuers.gateway,
      signingKeys: { existingSecret: 'signing-keys' },
      issuers: [trusted],
      fileService: { url: filesUrl(namespace), key: { existingSecret: filesKey.secret } },
      resources: { requests: { cpu: '10m', memory: '48Mi' }, limits: { memory: '256Mi' } },
    },
  };
}
