import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runToEnd } from '#kit/testing/run-to-end';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { helmOk, missingHelm } from '../chart/helm.ts';
import { type ApiServer, missingApiServer, onApiServer, openApiServer } from '../kube/open-api-server.ts';
import { kubectlEnvironment, runKubectl } from '../kubectl/run-plugin.ts';
import { readBlocks } from '../readme/read-blocks.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'examples/detectors/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
    .sort(),
];

/** Blocks with the label `console` are run, with their output, by the tests of the pages and of the README. */
const consoles = ['console', 'console python', 'console kubectl'];

type Printed = { readonly page: string; readonly command: string };

/** The commands of blocks with the label `sh`: a backslash continues a line, a comment follows two blanks. */
function commandsOf(page: string): readonly Printed[] {
  const blocks = readBlocks(readFileSync(join(root, page), 'utf8')).filter(({ label }) => label === 'sh');
  return blocks
    .flatMap(({ text }) =>
      text.replace(/ (\\|\|)\n +/g, (_all, end: string) => (end === '|' ? ' | ' : ' ')).split('\n'),
    )
    .map((line) => line.replace(/ {2,}#.*$/, '').trim())
    .filter((command) => command !== '')
    .map((command) => ({ page, command }));
}

/** The reason why no test runs a command as printed. */
const notRun: readonly { readonly reason: string; readonly pattern: RegExp }[] = [
  { reason: 'builds images or runs containers with an engine, or pushes to a registry', pattern: /\bdocker\b/ },
  {
    reason: 'hack/cluster has its own tests for a whole cluster',
    pattern: /^npm run cluster|^eval "\$\(npm run -s cluster env\)"$/,
  },
  {
    reason: 'e2e/chart installs, upgrades, rolls back and removes the chart on a whole cluster, with its own images',
    pattern: /^helm /,
  },
  { reason: 'is the check itself', pattern: /^npm (test|run e2e)\b|PORTCULLIS_E2E_CONTEXT/ },
  { reason: 'pretended nodes have no shell', pattern: /\bexec\b/ },
  {
    reason: 'forwards a port of a pod, or needs one',
    pattern: /port-forward|--server http:|pg_(dump|restore)|^kill %1$/,
  },
  { reason: 'e2e/kubectl/backup-restore.test.ts restores into another cluster', pattern: /portcullis restore/ },
  { reason: 'e2e/agent-gateway calls the same paths of a gateway with an agent', pattern: /"\$GATEWAY\// },
  { reason: 'downloads packages and a model of several hundred megabytes', pattern: /^python3 -m venv|^venv\/bin/ },
];
const mostNotRun = 61;

/** Pretended nodes have no logs and no metrics: in place of such a command, the object or the pods that it names are read. */
const readsPods = (command: string): string =>
  command
    .replace(/^(kubectl -n NS) (?:logs|top pods?) (-l (?:'[^']*'|\S+)).*$/, '$1 get pods $2')
    .replace(/^(kubectl -n NS) logs (\S+\/\S+) .*$/, '$1 get $2')
    .replace(/^(kubectl -n NS) logs (\S+) .*$/, '$1 get pod $2');

/** The test of the README runs this command. */
const isStart = ({ command }: Printed): boolean => /^npm start\b/.test(command);
const reasonsOf = ({ command }: Printed) => notRun.filter(({ pattern }) => pattern.test(readsPods(command)));
const all = pages.flatMap(commandsOf);
/** These commands remove what the others need, in this order. */
const last = [
  /annotate modelbindings,/,
  /\| xargs .* patch '\{\}'/,
  /delete modelbindings,/,
  /delete (crd|customresource)/,
  /delete namespace/,
];
const placeOf = ({ command }: Printed): number => last.findIndex((pattern) => pattern.test(command)) + 1;
/** The beginning of the set-up. */
const createNamespace = 'kubectl create namespace portcullis';
const run = all
  .filter((one) => !isStart(one) && one.command !== createNamespace && reasonsOf(one).length === 0)
  .toSorted((one, other) => placeOf(one) - placeOf(other));

test('every block with commands has a label whose commands are known to the tests', () => {
  const labels = pages.flatMap((page) => readBlocks(readFileSync(join(root, page), 'utf8')).map(({ label }) => label));
  const others = ['', 'yaml', 'json', 'ts', 'js', 'http', 'sql', 'sh', 'python', ...consoles];
  expect(labels.filter((label) => !others.includes(label))).toEqual([]);
});

test('commands that no test runs have a reason, and there are few of them', () => {
  const left = all.filter((one) => reasonsOf(one).length > 0);
  console.log(
    [`${left.length} of ${all.length} commands in blocks of the label sh are not run:`]
      .concat(left.map((one) => `${one.page}: ${one.command} (${reasonsOf(one)[0]?.reason})`))
      .join('\n'),
  );
  expect(left.length).toBeLessThanOrEqual(mostNotRun);
  for (const { reason, pattern } of notRun)
    expect(
      all.some(({ command }) => pattern.test(command)),
      reason,
    ).toBe(true);
});

const missing = missingApiServer ?? missingHelm;

/** A default class and volumes for the claims of the chart, which a provisioner would make. */
const pretendedVolumes: readonly object[] = [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'pretended', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/no-provisioner',
    allowVolumeExpansion: true,
  },
  ...Array.from({ length: 8 }, (_none, at) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: `pretended-${at + 1}` },
    spec: {
      storageClassName: 'pretended',
      capacity: { storage: '100Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      hostPath: { path: '/nowhere' },
    },
  })),
];

describe.skipIf(missing !== undefined)(onApiServer('commands for a cluster'), () => {
  let server: ApiServer;
  const folder = temporaryFolder();
  const namespace = 'portcullis';
  beforeAll(async () => {
    server = await openApiServer({ controllers: true, pretendedNodes: 1 });
    const { kubeconfigFile } = server.controlPlane;
    const kubectl = async (args: readonly string[], file?: string): Promise<void> => {
      const end = await runKubectl(kubeconfigFile, [...args, ...(file === undefined ? [] : ['-f', file])]);
      if (end.code !== 0) throw new Error(end.stderr);
    };
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder.path, name), text);
      return join(folder.path, name);
    };
    expect(all.map(({ command }) => command)).toContain(createNamespace);
    await kubectl(createNamespace.split(' ').slice(1));
    await kubectl(['config', 'set-context', '--current', `--namespace=${namespace}`]);
    const chart = await helmOk([
      'template',
      namespace,
      join(root, 'charts/portcullis'),
      '--namespace',
      namespace,
      '--no-hooks',
    ]);
    await kubectl(
      ['apply', '--server-side', '--force-conflicts', `--namespace=${namespace}`],
      write('chart.yaml', chart),
    );
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'portcullis-operator' },
      spec: {},
    };
    const report = {
      apiVersion: 'portcullis.dev/v1alpha1',
      kind: 'GatewayReport',
      metadata: { name: 'gateway-1' },
      spec: {
        gateway: 'default',
        bootId: '0190a5d4-7f3a-7cc2-9b1e-8d3f5a6b7c01',
        ready: true,
        formats: [1],
        appliedThrough: '1',
        pending: [],
        rejected: [],
        inUse: [],
      },
    };
    for (const object of pretendedVolumes) await kubectl(['apply'], write('one.yaml', JSON.stringify(object)));
    const objects = [lease, report, policyObject('guarded-chat'), bindingObject('name')];
    for (const object of objects)
      await kubectl(['apply', `--namespace=${namespace}`], write('one.yaml', JSON.stringify(object)));
    write('policy.yaml', JSON.stringify(policyObject('guarded-chat')));
    // The files of the reader: the key of a provider, and keys of clients.
    write('main-model.key', 'a key');
    write('clients', '');
    mkdirSync(join(folder.path, 'charts'));
    symlinkSync(join(root, 'charts/portcullis'), join(folder.path, 'charts/portcullis'));
    symlinkSync(join(root, 'examples'), join(folder.path, 'examples'));
    await until('the pods of the chart exist', () => kubectl(['get', 'pod', 'portcullis-postgres-0']).then(() => true));
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  test.each(run)('a command of a page runs against the chart, $page: $command', async ({ command }) => {
    // The placeholders of the runbooks: namespace, release and binding.
    const filled = readsPods(command)
      .replace(/(?<!\$)\bNS\b(?!=)/g, namespace)
      .replace(/\bR-/g, 'portcullis-')
      .replace(/\bNAME\b(?!:)/g, 'name');
    const environment = { ...(await kubectlEnvironment(server.controlPlane.kubeconfigFile)), NS: namespace };
    const end = await runToEnd('bash', ['-o', 'pipefail', '-c', filled], { cwd: folder.path, environment });
    expect(
      { code: end.code, stderr: end.stderr.replace(/^(Warning: .*|No resources found.*)\n/gm, '') },
      end.stdout,
    ).toEqual({ code: 0, stderr: '' });
  });
});
