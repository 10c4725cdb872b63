import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runToEnd } from '#kit/testing/run-to-end';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { type ControlPlane, startControlPlane } from '../../hack/cluster/life/start-control-plane.ts';
import { chartFolder, helmOk, helmProgram, missingHelm } from '../chart/tools/helm.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { kubectlEnvironment, runKubectl } from '../kubectl/run-plugin.ts';
import { pretendedVolumes } from './pretended-volumes.ts';
import { isHelm, runnableCommands } from './shell-commands.ts';

const missing = missingApiServer ?? missingHelm;

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

  /**
   * Prepares the state that the page assumes: no release with that name before an installation, one revision before a
   * removal, two before a rollback.
   */
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

  test.each(runnableCommands.filter(isHelm))('a command of a page runs, $page: $command', async ({ command }) => {
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
