import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { canonicalBytes } from '#contracts/canonical';
import { workloadTemplateSchema } from '../../../../environment/workload-template.ts';
import { readDeploymentManifest, renderDeploymentManifest } from '../manifest.ts';

const name = 'g-0123456789abcdef0123';
const detector = {
  name: 'detector',
  kind: 'detector',
  endpoint: 'https://detector.example/check',
  credential: 'detector-key',
} as const;
const classifier = {
  name: 'classifier',
  kind: 'classifier',
  endpoint: 'http://classifier.models:8080/v1',
  model: 'small',
  credential: 'classifier-key',
} as const;
const identity = { name, digest: 'ab'.repeat(32), build: 'portcullis:1', providers: [] };

const least = workloadTemplateSchema.parse({ image: 'portcullis:1', tokenSecret: 'portcullis-runtime-token' });
const full = workloadTemplateSchema.parse({
  image: 'images.example/portcullis@sha256:00',
  imagePullPolicy: 'Always',
  imagePullSecrets: [{ name: 'pull' }],
  command: ['/node', 'runtime/main.ts'],
  serviceAccountName: 'runtime',
  resources: { requests: { cpu: '250m', memory: '256Mi' }, limits: { memory: '512Mi' } },
  tokenSecret: 'portcullis-runtime-token',
  providerSecret: 'provider-credentials',
  traces: { url: 'https://collector.example:4318/v1/traces', secret: 'collector-token' },
  authoritiesConfigMap: 'company-authorities',
  runAsUser: 1_000_700_000,
  labels: { team: 'safety', 'app.kubernetes.io/part-of': 'something-else' },
  annotations: { 'example.com/scrape': 'true' },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'spot', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  topologySpread: false,
  priorityClassName: 'high',
  maxUnavailable: '25%',
  preStopSeconds: 0,
  terminationGraceSeconds: 60,
  allowFrom: { role: 'gateway' },
  ingress: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
  egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }], ports: [{ port: 443, protocol: 'TCP' }] }],
  port: 9_000,
});

const cases = [
  ['least', least, identity],
  ['full', full, { ...identity, providers: [detector, classifier] }],
] as const;
const parts = ['deployment', 'service', 'podDisruptionBudget', 'networkPolicy'] as const;

describe.each(cases)('a workload of the %s template', (title, template, input) => {
  const text = renderDeploymentManifest(input, template);
  const manifest = readDeploymentManifest(text);

  test.each(parts)('the %s of a workload equals its golden file', async (part) => {
    const file = `${title}-${part.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.yaml`;
    await expect(stringify(manifest?.[part])).toMatchFileSnapshot(`../testdata/${file}`);
  });

  test('the manifest of a workload is rendered to equal bytes and parsed to the same objects', () => {
    expect(renderDeploymentManifest(structuredClone(input), structuredClone(template))).toBe(text);
    expect(canonicalBytes(manifest).toString('utf8')).toBe(text);
  });

  test('the manifest of a workload is smaller than 16 KiB', () => {
    expect(text.length).toBeLessThan(16_384);
  });
});

test('a pod whose user the cluster assigns sets no user and is restricted nevertheless', () => {
  const { deployment } = readDeploymentManifest(renderDeploymentManifest(identity, { ...least, runAsUser: '' })) ?? {};
  expect(deployment?.spec).toMatchObject({
    template: { spec: { securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } } } },
  });
  expect(JSON.stringify(deployment)).not.toMatch(/runAsUser|runAsGroup|fsGroup/);
});

test('the manifest of a workload without NetworkPolicy has no such object', () => {
  const manifest = readDeploymentManifest(renderDeploymentManifest(identity, { ...least, networkPolicy: false }));
  expect(manifest?.networkPolicy).toBeUndefined();
  expect(manifest?.deployment).toBeDefined();
});

test('without egress rules a workload may reach the ports of its providers, each listed once', () => {
  const other = { ...detector, name: 'other', endpoint: 'https://other.example' } as const;
  const manifest = readDeploymentManifest(
    renderDeploymentManifest({ ...identity, providers: [detector, classifier, other] }, least),
  );
  expect(manifest?.networkPolicy?.spec['egress']).toMatchObject([
    { ports: [{ port: 53 }, { port: 53 }] },
    { ports: [{ port: 443 }, { port: 8_080 }] },
  ]);
});

const text = renderDeploymentManifest(identity, least);
test.each([
  ['a manifest of local processes', '{"kind":"LocalProcess"}'],
  ['no JSON', '{'],
  ['an object more', JSON.stringify({ ...JSON.parse(text), secret: {} })],
  ['another kind of object', text.replace('"kind":"Deployment"', '"kind":"DaemonSet"')],
  ['objects of two names', text.replace(`"name":"${name}"`, '"name":"g-other"')],
])('%s is not parsed as the manifest of a workload', (_name, other) => {
  expect(other).not.toBe(text);
  expect(readDeploymentManifest(other)).toBeUndefined();
});

test('the manifest of another workload is refused', () => {
  expect(readDeploymentManifest(text, name)).toBeDefined();
  expect(readDeploymentManifest(text, 'g-other')).toBeUndefined();
});
