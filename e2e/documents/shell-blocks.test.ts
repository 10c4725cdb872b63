import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runToEnd } from '#kit/testing/run-to-end';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { root } from '../../hack/check/run-tool.ts';
import { bindingObject, policyObject } from '../../operator/testing/objects.ts';
import { helmOk, missingHelm } from '../chart/tools/helm.ts';
import { type ApiServer, missingApiServer, onApiServer, openApiServer } from '../kube/open-api-server.ts';
import { kubectlEnvironment, runKubectl } from '../kubectl/run-plugin.ts';
import { readBlocks } from '../readme/read-blocks.ts';
import { pretendedVolumes } from './pretended-volumes.ts';
import {
  commandPages,
  isHelm,
  namespaceCommand,
  notRun,
  type Printed,
  printedCommands,
  readsPods,
  reasonsOf,
  runnableCommands,
} from './shell-commands.ts';

/** Blocks with the label `console` are run, with their output, by the tests of the pages and of the README. */
const consoles = ['console', 'console python', 'console kubectl', 'console model'];

const mostNotRun = 55;

/** These commands remove objects that the other commands need, so that they run last, in this order. */
const last = [
  /annotate modelbindings,/,
  /\| xargs .* patch '\{\}'/,
  /delete modelbindings,/,
  /delete (crd|customresource)/,
  /delete namespace/,
];
const placeOf = ({ command }: Printed): number => last.findIndex((pattern) => pattern.test(command)) + 1;
/** A command of another page that is repeated and changes nothing does not run again. */
const isRepeated = ({ command }: Printed, at: number): boolean =>
  /^kubectl (-n \S+ (get|describe|logs)|auth can-i) /.test(command) &&
  runnableCommands.findIndex((other) => readsPods(other.command) === readsPods(command)) < at;
const run = runnableCommands
  .filter((one, at) => !isHelm(one) && !isRepeated(one, at))
  .toSorted((one, other) => placeOf(one) - placeOf(other));

test('every block with commands has a label whose commands are known to the tests', () => {
  const labels = commandPages.flatMap((page) =>
    readBlocks(readFileSync(join(root, page), 'utf8')).map(({ label }) => label),
  );
  const others = ['', 'yaml', 'json', 'ts', 'js', 'http', 'sql', 'sh', 'python', ...consoles];
  expect(labels.filter((label) => !others.includes(label))).toEqual([]);
});

test('a block without a label contains no commands, because no test runs it', () => {
  const hidden = commandPages.flatMap((page) =>
    readBlocks(readFileSync(join(root, page), 'utf8'))
      .filter(({ label }) => label === '')
      .flatMap(({ line, text }) => text.split('\n').map((command) => ({ page, line, command })))
      .filter(({ command }) => /^(\$ )?(portcullis|kubectl|npm|helm|docker|curl) /.test(command)),
  );
  expect(hidden).toEqual([]);
});

test('commands that no test runs have a reason, and there are few of them', () => {
  const left = printedCommands.filter((one) => reasonsOf(one).length > 0);
  console.log(
    [`${left.length} of ${printedCommands.length} commands in blocks of the label sh are not run:`]
      .concat(left.map((one) => `${one.page}: ${one.command} (${reasonsOf(one)[0]?.reason})`))
      .join('\n'),
  );
  expect(left.length).toBeLessThanOrEqual(mostNotRun);
  for (const { reason, pattern } of notRun)
    expect(
      printedCommands.some(({ command }) => pattern.test(command)),
      reason,
    ).toBe(true);
});

const missing = missingApiServer ?? missingHelm;
/** The page of an alert needs the rights of the catalogue's worker. */
const withCatalogue = [
  'agents.publicUrl=https://a.example',
  'agents.issuer=https://b.example',
  'agents.enabled=true',
  'catalogue.enabled=true',
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
    expect(printedCommands.map(({ command }) => command)).toContain(namespaceCommand);
    await kubectl(namespaceCommand.split(' ').slice(1));
    await kubectl(['config', 'set-context', '--current', `--namespace=${namespace}`]);
    // The volumes are created before the claims: a claim that is created before the default class gets the class only
    // at a later pass of the controller.
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
