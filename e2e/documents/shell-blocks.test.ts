import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runToEnd } from '#kit/testing/run-to-end';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';
import { type ControlPlane, startControlPlane } from '../../hack/cluster/control-plane.ts';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { chartFolder, helmOk, helmProgram, missingHelm } from '../chart/helm.ts';
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
const consoles = ['console', 'console python', 'console kubectl', 'console model'];

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
  { reason: 'e2e/chart runs the tests of the chart on a whole cluster, with its own images', pattern: /^helm test / },
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
const mostNotRun = 50;

/** Pretended nodes have no logs and no metrics: in place of such a command, the object or the pods that it names are read. */
const readsPods = (command: string): string =>
  command
    .replace(/^(kubectl -n NS) (?:logs|top pods?) (-l (?:'[^']*'|\S+)).*$/, '$1 get pods $2')
    .replace(/^(kubectl -n NS) logs (\S+\/\S+) .*$/, '$1 get $2')
    .replace(/^(kubectl -n NS) logs (\S+) .*$/, '$1 get pod $2');

/** The test of the README runs this command. */
const isStart = ({ command }: Printed): boolean => /^(?:[A-Z_]+=\S+ )*npm start\b/.test(command);
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
const isHelm = ({ command }: Printed): boolean => command.startsWith('helm ');
const runnable = all.filter((one) => !isStart(one) && one.command !== createNamespace && reasonsOf(one).length === 0);
const run = runnable.filter((one) => !isHelm(one)).toSorted((one, other) => placeOf(one) - placeOf(other));

test('every block with commands has a label whose commands are known to the tests', () => {
  const labels = pages.flatMap((page) => readBlocks(readFileSync(join(root, page), 'utf8')).map(({ label }) => label));
  const others = ['', 'yaml', 'json', 'ts', 'js', 'http', 'sql', 'sh', 'python', ...consoles];
  expect(labels.filter((label) => !others.includes(label))).toEqual([]);
});

test('a block without a label has no commands, because no test runs it', () => {
  const hidden = pages.flatMap((page) =>
    readBlocks(readFileSync(join(root, page), 'utf8'))
      .filter(({ label }) => label === '')
      .flatMap(({ line, text }) => text.split('\n').map((command) => ({ page, line, command })))
      .filter(({ command }) => /^(\$ )?(portcullis|kubectl|npm|helm|docker|curl) /.test(command)),
  );
  expect(hidden).toEqual([]);
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
/** The page of an alert asks for the rights of the catalogue's worker. */
const withCatalogue = [
  'agents.publicUrl=https://a.example',
  'agents.issuer=https://b.example',
  'agents.enabled=true',
  'catalogue.enabled=true',
];

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
    // Before the claims: a claim that comes before the default class gets it only at a later pass of the controller.
    for (const object of pretendedVolumes) await kubectl(['apply'], write('one.yaml', JSON.stringify(object)));
    const chart = await helmOk([
      'template',
      namespace,
      join(root, 'charts/portcullis'),
      '--namespace',
      namespace,
      '--no-hooks',
      ...withCatalogue.map((value) => `--set=${value}`),
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
    const claim = 'persistentvolumeclaim/data-portcullis-postgres-0';
    await kubectl(['wait', claim, '--for=jsonpath={.status.phase}=Bound', '--timeout=120s']);
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

describe.skipIf(missing !== undefined)(onApiServer('commands of Helm'), () => {
  let controlPlane: ControlPlane;
  const folder = temporaryFolder();
  const release = 'portcullis';
  const helmHere = (...args: readonly string[]) => helmOk(args, controlPlane.kubeconfigFile);
  const ofRelease = ['--namespace', release] as const;

  beforeAll(async () => {
    controlPlane = await startControlPlane({ controllers: true, pretendedNodes: 1 });
    const file = join(folder.path, 'volumes.yaml');
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: pretendedVolumes }));
    const end = await runKubectl(controlPlane.kubeconfigFile, ['apply', '-f', file]);
    if (end.code !== 0) throw new Error(end.stderr);
    // The files of the reader: values, and the keys of the issuer of the cluster.
    writeFileSync(join(folder.path, 'values.yaml'), 'image: { tag: dev }\n');
    const keys = await runKubectl(controlPlane.kubeconfigFile, ['get', '--raw', '/openid/v1/jwks']);
    writeFileSync(join(folder.path, 'jwks.json'), keys.stdout);
    mkdirSync(join(folder.path, 'charts'));
    symlinkSync(chartFolder, join(folder.path, 'charts/portcullis'));
  });
  afterAll(async () => {
    await controlPlane?.[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** What the page presumes: no release of that name before an installation, one before a removal, two before a rollback. */
  async function prepare(command: string): Promise<void> {
    if (/\binstall second\b/.test(command)) return;
    const releases = JSON.parse(await helmHere('list', '--namespace', release, '--output', 'json')) as unknown[];
    const isThere = releases.length > 0;
    if (command.startsWith('helm install')) {
      if (isThere) await helmHere('uninstall', release, ...ofRelease, '--wait');
      if (!command.includes('--create-namespace'))
        await runKubectl(controlPlane.kubeconfigFile, ['create', 'namespace', release]);
      return;
    }
    if (!isThere) await helmHere('install', release, chartFolder, ...ofRelease, '--create-namespace');
    if (command.startsWith('helm rollback'))
      await helmHere('upgrade', release, chartFolder, ...ofRelease, '--reuse-values');
  }

  test.each(runnable.filter(isHelm))('a command of a page runs, $page: $command', async ({ command }) => {
    await prepare(command);
    const filled = command.replace(/(?<!\$)\bNS\b(?!=)/g, release).replace(/\bR\b/g, release);
    const issuer = await runKubectl(controlPlane.kubeconfigFile, ['get', '--raw', '/.well-known/openid-configuration']);
    const environment = {
      ...(await kubectlEnvironment(controlPlane.kubeconfigFile)),
      ...{ NS: release, ISSUER: (JSON.parse(issuer.stdout) as { issuer: string }).issuer },
    };
    const words = filled.replace(/^helm /, `'${helmProgram()}' `);
    const end = await runToEnd('bash', ['-c', words], { cwd: folder.path, environment });
    expect({ code: end.code, stderr: end.stderr }, end.stdout).toMatchObject({ code: 0 });
  });
});
