import { randomUUID } from 'node:crypto';
import { join, posix } from 'node:path';
import { stringify } from 'yaml';
import { sha256Hex } from '#contracts/canonical';
import { createCapabilityKey, mintFileReference, type StoredFile } from '#identity/file-capability';
import { root } from '../../hack/check/run-tool.ts';
import type { TestImage } from '../chart/tools/chart-values.ts';
import { testPodSecurity } from '../support/test-pod-security.ts';
import type { ServicesKubectl } from './client-pod.ts';

/** The content that the pod serves. */
export type ServedFiles = {
  readonly issuer: string;
  /** The key of agents at the service. */
  readonly token: string;
  readonly files: readonly { readonly file: StoredFile; readonly text: string }[];
};

type MintFor = Pick<Parameters<typeof mintFileReference>[0], 'agentId' | 'operation' | 'session' | 'acting'>;

const name = 'files';
const port = 8_080;
const issuer = 'https://files.example';
/** The Secret with the key of agents at the service. */
export const filesKey = { secret: 'files-key', token: 'key-of-agents' } as const;
/** Sources that the image lacks, by the folder of the checkout at which they are mounted. */
const sources = {
  e2e: ['support/file-service.ts', 'services-cluster/serve-files.ts'],
  'libraries/kit/testing': ['loopback.ts'],
} as const;
const keyOf = (folder: string, file: string): string => posix.join(folder, file).replaceAll('/', '_');

/** Address of the service for agents in a namespace. */
export const filesUrl = (namespace: string): string => `http://${name}.${namespace}.svc:${port}`;

/**
 * Starts a pod with the reference server of docs/file-service.md, which serves one text.
 * @returns a function that creates a reference to the text
 */
export async function startFilesPod(
  kubectl: ServicesKubectl,
  image: TestImage,
  text: string,
): Promise<(use: MintFor) => ReturnType<typeof mintFileReference>> {
  const key = await createCapabilityKey('files-1');
  const file: StoredFile = {
    id: randomUUID(),
    name: 'notes.txt',
    mediaType: 'text/plain',
    size: Buffer.byteLength(text),
    sha256: sha256Hex(Buffer.from(text)),
    owner: { issuer: 'https://people.example', subject: 'ann' },
  };
  const served: ServedFiles = { issuer, token: filesKey.token, files: [{ file, text }] };
  const literals = { 'files.json': served, 'jwks.json': { keys: [key.jwk] } };
  await kubectl([
    ...['create', 'secret', 'generic', name],
    ...Object.entries(literals).map(([path, value]) => `--from-literal=${path}=${JSON.stringify(value)}`),
  ]);
  const mounted = Object.entries(sources).flatMap(([folder, files]) => files.map((one) => [folder, one] as const));
  await kubectl([
    ...['create', 'configmap', name],
    ...mounted.map(([folder, one]) => `--from-file=${keyOf(folder, one)}=${join(root, folder, one)}`),
  ]);
  await kubectl(['apply', '--filename=-'], [service, podOf(image)].map((object) => stringify(object)).join('---\n'));
  await kubectl(['wait', '--for=condition=Ready', `pod/${name}`, '--timeout=5m']);
  return (use) => mintFileReference({ ...use, key, issuer, file });
}

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port, targetPort: port }] },
};

function podOf({ repository, tag }: TestImage): object {
  const folders = Object.entries(sources);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 0,
      securityContext: testPodSecurity,
      containers: [
        {
          name,
          image: `${repository}:${tag}`,
          imagePullPolicy: 'IfNotPresent',
          command: ['node', '/app/e2e/services-cluster/serve-files.ts', '/etc/files'],
          readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [
            { name, mountPath: '/etc/files', readOnly: true },
            ...folders.map(([folder], at) => ({ name: `sources-${at}`, mountPath: `/app/${folder}`, readOnly: true })),
          ],
        },
      ],
      volumes: [
        { name, secret: { secretName: name, defaultMode: 0o440 } },
        ...folders.map(([folder, files], at) => ({
          name: `sources-${at}`,
          configMap: { name, items: files.map((path) => ({ key: keyOf(folder, path), path })) },
        })),
      ],
    },
  };
}
