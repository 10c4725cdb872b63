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

describe('what pods are made of', () => {
  test('needs an image and the Secret of the token; the rest protects by itself', async () => {
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

  test('must be there', async () => {
    expect(await problems(undefined)).toEqual([expect.stringMatching(/workload\.yaml is missing/)]);
    expect(await problems('')).toEqual([
      expect.stringContaining('workload.yaml: image'),
      expect.stringContaining('workload.yaml: tokenSecret'),
    ]);
  });

  test.each([
    ['a member that is none', 'replicas: 3', 'the file'],
    ['a quantity that is none', 'resources: { limits: { memory: 1 GB } }', 'resources.limits.memory'],
    ['a label of ours', 'labels: { portcullis.dev/workload: x }', 'labels'],
    ['a label value that is none', 'labels: { team: "a b" }', 'labels.team'],
    ['an unprivileged port only', 'port: 80', 'port'],
    ['no command', 'command: []', 'command'],
  ])('refuses %s', async (_name, text, place) => {
    expect(await problems(`${least}${text}\n`)).toEqual([expect.stringContaining(`workload.yaml: ${place}`)]);
  });

  test('leaves a pod the time that its hook and its drain need', async () => {
    const text = (grace: number) => `${least}preStopSeconds: 5\nterminationGraceSeconds: ${grace}\n`;
    expect((await read(text(13))).template.terminationGraceSeconds).toBe(13);
    expect(await problems(text(12))).toEqual([expect.stringContaining('terminationGraceSeconds: must be at least 13')]);
  });

  test('takes the forms of the Kubernetes API', async () => {
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

describe('policies that are served directly', () => {
  const entry = '{ name: chat, policyRef: { name: guard, revision: 3 }, contentProfile: gateway-1, replicas: 2 }';

  test('are none unless they are listed', async () => {
    expect((await read(least)).served).toEqual([]);
    expect((await read(least, `policies: [${entry}]`)).served).toEqual([
      { name: 'chat', policyRef: { name: 'guard', revision: 3 }, contentProfile: 'gateway-1', replicas: 2 },
    ]);
  });

  test('have names that a Service can have, each once', async () => {
    const named = (name: string) => `policies: [${entry.replace('chat', name)}]`;
    expect((await read(least, named('a'.repeat(40)))).served).toHaveLength(1);
    for (const wrong of ['a'.repeat(41), 'A', 'a.b', '-a']) {
      expect(await problems(least, named(wrong))).toEqual([expect.stringContaining('policies.0.name')]);
    }
    expect(await problems(least, `policies: [${entry}, ${entry}]`)).toEqual([
      expect.stringContaining('the policy chat is listed twice'),
    ]);
  });
});

test('the problems of all files are told at once', async () => {
  const found = await problems('port: 1', 'policies: 1', 'providers: 1');
  for (const file of ['workload.yaml', 'served-policies.yaml', 'providers.yaml']) {
    expect(found.some((problem) => problem.includes(file))).toBe(true);
  }
});
