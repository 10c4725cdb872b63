import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ConfigError } from '#kit/env/config-error';
import { readClusterEnvironment } from './read-environment-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portcullis-environment-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const least = 'image: portcullis:1\ntokenSecret: runtime-token\n';

async function read(template: string | undefined, served?: string, providers?: string) {
  const files = {
    providers: join(folder, 'providers.yaml'),
    limits: join(folder, 'limits.yaml'),
    served: join(folder, 'served-policies.yaml'),
    template: join(folder, 'workload.yaml'),
    agents: join(folder, 'agents.yaml'),
  };
  for (const path of Object.values(files)) await rm(path, { force: true });
  for (const [path, text] of [
    [files.template, template],
    [files.served, served],
    [files.providers, providers],
  ] as const) {
    if (text !== undefined) await writeFile(path, text);
  }
  return readClusterEnvironment(files);
}

async function problems(...texts: Parameters<typeof read>): Promise<readonly string[]> {
  const error: unknown = await read(...texts).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof ConfigError ? error.problems : [];
}

describe('the pod template', () => {
  test('a pod template needs an image and a token Secret, and its defaults are restrictive', async () => {
    const { template } = await read(least);
    expect(template).toEqual({
      image: 'portcullis:1',
      imagePullPolicy: 'IfNotPresent',
      imagePullSecrets: [],
      command: ['node', 'runtime/main.ts'],
      resources: {},
      tokenSecret: 'runtime-token',
      labels: {},
      annotations: {},
      nodeSelector: {},
      tolerations: [],
      topologySpread: true,
      maxUnavailable: 1,
      preStopSeconds: 5,
      terminationGraceSeconds: 30,
      networkPolicy: true,
      allowFrom: { 'app.kubernetes.io/part-of': 'portcullis' },
      ingress: [],
      port: 8_000,
    });
  });

  test('a missing or empty pod template is refused', async () => {
    expect(await problems(undefined)).toEqual([expect.stringMatching(/workload\.yaml is missing/)]);
    expect(await problems('')).toEqual([
      expect.stringContaining('workload.yaml: image'),
      expect.stringContaining('workload.yaml: tokenSecret'),
    ]);
  });

  test.each([
    ['an unknown member', 'replicas: 3', 'replicas is an unknown field'],
    ['an invalid quantity', 'resources: { limits: { memory: 1 GB } }', 'resources.limits.memory'],
    ['a reserved label', 'labels: { portcullis.dev/workload: x }', 'labels'],
    ['an invalid label value', 'labels: { team: "a b" }', 'labels.team'],
    ['a privileged port', 'port: 80', 'port'],
    ['an empty command', 'command: []', 'command'],
  ])('a pod template with %s is refused', async (_name, text, place) => {
    expect(await problems(`${least}${text}\n`)).toEqual([expect.stringContaining(`workload.yaml: ${place}`)]);
  });

  test('a termination grace period shorter than the preStop hook and the drain together is refused', async () => {
    const text = (grace: number) => `${least}preStopSeconds: 5\nterminationGraceSeconds: ${grace}\n`;
    expect((await read(text(13))).template.terminationGraceSeconds).toBe(13);
    expect(await problems(text(12))).toEqual([expect.stringContaining('terminationGraceSeconds must be at least 13')]);
  });

  test('a pod template accepts the forms of the Kubernetes API', async () => {
    const { template } = await read(`${least}
resources: { requests: { cpu: 250m, memory: 256Mi }, limits: { memory: 512Mi } }
imagePullSecrets: [{ name: pull }]
tolerations: [{ key: gpu, operator: Exists }]
maxUnavailable: 25%
egress: [{ to: [{ ipBlock: { cidr: 10.0.0.0/8 } }], ports: [{ port: 443 }] }]
allowFrom: { portcullis.dev/runtime-client: "true" }
`);
    expect(template.resources.limits).toEqual({ memory: '512Mi' });
    expect(template.allowFrom).toEqual({ 'portcullis.dev/runtime-client': 'true' });
    expect(template.egress).toHaveLength(1);
  });
});

describe('served policies', () => {
  const entry = '{ name: chat, policyRef: { name: guard, revision: 3 }, contentProfile: gateway-1, replicas: 2 }';

  test('served policies are read from their file and are empty without it', async () => {
    expect((await read(least)).served).toEqual([]);
    expect((await read(least, `policies: [${entry}]`)).served).toEqual([
      { name: 'chat', policyRef: { name: 'guard', revision: 3 }, contentProfile: 'gateway-1', replicas: 2 },
    ]);
  });

  test('a served policy has a unique name that fits a Service', async () => {
    const named = (name: string) => `policies: [${entry.replace('chat', name)}]`;
    expect((await read(least, named('a'.repeat(40)))).served).toHaveLength(1);
    for (const wrong of ['a'.repeat(41), 'A', 'a.b', '-a']) {
      expect(await problems(least, named(wrong))).toEqual([expect.stringContaining('policies[0].name')]);
    }
    expect(await problems(least, `policies: [${entry}, ${entry}]`)).toEqual([
      expect.stringContaining('the policy chat is listed twice'),
    ]);
  });
});

test('the problems of all files are reported together', async () => {
  const found = await problems('port: 1', 'policies: 1', 'providers: 1');
  for (const file of ['workload.yaml', 'served-policies.yaml', 'providers.yaml']) {
    expect(found.some((problem) => problem.includes(file))).toBe(true);
  }
});
