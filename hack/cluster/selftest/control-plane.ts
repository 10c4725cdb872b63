import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kubectl, kubectlOk } from '../control-plane/kubectl.ts';
import { type ControlPlane, startControlPlane } from '../life/start-control-plane.ts';
import { cacheFolder, clusterFolder } from '../machine/places.ts';
import { progressOn } from '../machine/progress.ts';
import { processesOf, remainsOf } from './remains.ts';
import { runClusterCommand, runOk } from './run-command.ts';

/** The first run on a machine builds all programs, hence the long timeout. */
const buildMs = 1_800_000;

beforeAll(async () => {
  await using warm = await startControlPlane({ progress: progressOn(process.stderr) });
  expect(warm.apiServer.running()).toBeDefined();
}, buildMs);

describe('a control plane', () => {
  let controlPlane: ControlPlane;
  const admin = (...args: readonly string[]): Promise<string> => kubectlOk(controlPlane.kubeconfigFile, args);
  beforeAll(async () => {
    controlPlane = await startControlPlane({ audit: true, controllers: true });
  });
  afterAll(async () => {
    await controlPlane[Symbol.asyncDispose]();
    expect(remainsOf(controlPlane.name)).toEqual([]);
  });

  test('a control plane creates and deletes a namespace', async () => {
    await admin('create', 'namespace', 'made-here');
    expect(await admin('get', 'namespace', 'made-here', '--output=name')).toBe('namespace/made-here\n');
    await admin('delete', 'namespace', 'made-here', '--timeout=30s');
    expect((await kubectl(controlPlane.kubeconfigFile, ['get', 'namespace', 'made-here'])).stderr).toContain(
      'NotFound',
    );
  });

  test('a client certificate grants its user the rights of its groups', async () => {
    const anna = controlPlane.kubeconfigFor('anna', ['readers']);
    const refused = await kubectl(anna, ['get', 'configmaps']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('User "anna" cannot list resource "configmaps"');
    await admin('create', 'rolebinding', 'readers', '--clusterrole=view', '--group=readers');
    await until('the binding holds', async () => (await kubectl(anna, ['get', 'configmaps'])).code === 0);
    expect((await kubectl(anna, ['create', 'configmap', 'one'])).stderr).toContain('cannot create');
    expect((await kubectl(controlPlane.kubeconfigFor('boris'), ['get', 'configmaps'])).code).toBe(1);
  });

  test('the audit log of a control plane contains each request once it is answered', async () => {
    const before = readFileSync(controlPlane.auditLogFile, 'utf8').length;
    await admin('create', 'configmap', 'counted');
    const writes = readFileSync(controlPlane.auditLogFile, 'utf8')
      .slice(before)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { verb: string; user: { username: string }; objectRef?: { name?: string } })
      .filter(({ verb, user }) => verb === 'create' && user.username === 'admin');
    expect(writes.map(({ objectRef }) => objectRef?.name)).toEqual(['counted']);
  });

  test('a control plane garbage collects the objects of a deleted owner', async () => {
    await admin('create', 'configmap', 'owner');
    const uid = await admin('get', 'configmap', 'owner', '--output=jsonpath={.metadata.uid}');
    const owned = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'owned', ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }] },
    };
    await kubectlOk(controlPlane.kubeconfigFile, ['create', '--filename=-'], JSON.stringify(owned));
    await admin('delete', 'configmap', 'owner');
    await admin('wait', '--for=delete', 'configmap/owned', '--timeout=30s');
  });

  test('a control plane keeps its objects when the API server crashes and when etcd is restarted', async () => {
    await admin('create', 'configmap', 'kept');
    await controlPlane.killApiServer();
    expect((await kubectl(controlPlane.kubeconfigFile, ['get', 'configmap', 'kept'])).stderr).toContain('refused');
    await controlPlane.restartApiServer();
    expect(await admin('get', 'configmap', 'kept', '--output=name')).toBe('configmap/kept\n');
    await controlPlane.restartEtcd();
    await until('etcd serves', () => admin('get', 'configmap', 'kept', '--output=name'));
  });

  test('two control planes run at the same time independently', async () => {
    await using other = await startControlPlane();
    await admin('create', 'configmap', 'here-only');
    expect((await kubectl(other.kubeconfigFile, ['get', 'configmap', 'here-only'])).stderr).toContain('NotFound');
    expect((await kubectl(other.kubeconfigFile, ['--server', controlPlane.url, 'get', 'nodes'])).stderr).toContain(
      'x509',
    );
  });
});

describe('a control plane with simulated nodes', () => {
  test(
    'a control plane with simulated nodes runs a Deployment, replaces a pod of it and completes a Job',
    async () => {
      await using controlPlane = await startControlPlane({ pretendedNodes: 2 });
      const admin = (...args: readonly string[]): Promise<string> => kubectlOk(controlPlane.kubeconfigFile, args);
      await admin('create', 'deployment', 'many', '--image=localhost/nothing:1', '--replicas=20');
      await admin('rollout', 'status', 'deployment/many', '--timeout=60s');
      const nodes = await admin('get', 'pods', '--output=jsonpath={.items[*].spec.nodeName}');
      expect(new Set(nodes.split(' '))).toEqual(new Set(['pretended-1', 'pretended-2']));
      const [first = ''] = (await admin('get', 'pods', '--output=name')).split('\n');
      await admin('delete', first, '--timeout=30s');
      await admin('rollout', 'status', 'deployment/many', '--timeout=60s');
      await admin('create', 'job', 'once', '--image=localhost/nothing:1');
      await admin('wait', '--for=condition=Complete', 'job/once', '--timeout=60s');
    },
    buildMs,
  );
});

describe('a control plane that cannot start reports the reason and leaves no process and no file', () => {
  test('a control plane does not start on a port that is in use', async () => {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    await expect(startControlPlane({ name: 'taken-port', port })).rejects.toMatchObject({
      code: 'port-in-use',
      message: expect.stringContaining(String(port)),
    });
    server.close();
    expect(remainsOf('taken-port')).toEqual([]);
  });

  test('a control plane does not start with an unknown flag of the API server', async () => {
    await expect(startControlPlane({ name: 'bad-flag', apiServerFlags: ['--no-such-flag'] })).rejects.toMatchObject({
      code: 'component-failed',
      message: expect.stringMatching(/unknown flag: --no-such-flag[\s\S]*logs of this start are in/),
    });
    expect(remainsOf('bad-flag')).toEqual([]);
  });

  test('a control plane does not start with an invalid name', async () => {
    await expect(startControlPlane({ name: '../up' })).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('a control plane of a process that was killed', () => {
  test('a control plane ends with its process, and the next start removes its files', async () => {
    const file = fileURLToPath(new URL('../life/start-control-plane.ts', import.meta.url));
    const script = `const { startControlPlane } = await import(${JSON.stringify(file)});
      const { name } = await startControlPlane();
      console.log(name);
      setInterval(() => {}, 1_000);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [name] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    expect(processesOf(name).length).toBe(2);
    child.kill('SIGKILL');
    await until('its processes end', () => processesOf(name).length === 0);
    await using next = await startControlPlane();
    expect(next.name).not.toBe(name);
    expect(remainsOf(name)).toEqual([]);
  });
});

describe('the command line', () => {
  const name = 'selftest-commands';
  afterAll(async () => {
    await runClusterCommand('down', '--name', name);
  });

  test('the command starts a control plane once, shows it, restarts killed components, and removes it', async () => {
    const first = await runClusterCommand('up', '--control-plane', '--name', name);
    expect(first).toMatchObject({ code: 0, stdout: '' });
    expect((await runClusterCommand('up', '--control-plane', '--name', name)).stderr).toContain('runs already');

    const kubeconfig = (await runClusterCommand('kubeconfig', '--name', name)).stdout.trim();
    await kubectlOk(kubeconfig, ['create', 'namespace', 'stays']);

    const healthy = await runClusterCommand('status', '--name', name, '--json');
    expect(healthy.code).toBe(0);
    const [state] = JSON.parse(healthy.stdout) as [{ ready: boolean; components: { name: string; pid: number }[] }];
    expect(state.ready).toBe(true);
    expect(state.components.map((one) => one.name)).toEqual(['etcd', 'kube-apiserver']);

    for (const { pid } of state.components) process.kill(pid, 'SIGKILL');
    const ended = await until('the kubeconfig stops working', async () => {
      const status = await runClusterCommand('status', '--name', name);
      return /etcd +ended/.test(status.stdout) && /kube-apiserver +ended/.test(status.stdout) ? status : undefined;
    });
    expect(ended.code).toBe(4);

    await runOk('up', '--control-plane', '--name', name);
    expect(await kubectlOk(kubeconfig, ['get', 'namespace', 'stays', '--output=name'])).toBe('namespace/stays\n');

    const built = (await runClusterCommand('program', 'kube-apiserver')).stdout.trim();
    await runOk('down', '--name', name);
    expect(remainsOf(name)).toEqual([]);
    expect((await runClusterCommand('down', '--name', name)).stderr).toContain('There is no cluster');
    // Built programs are kept for the next cluster.
    expect(built.startsWith(cacheFolder()) && existsSync(built)).toBe(true);
  });

  test('the down command ends programs whose start was killed before their record was written', async () => {
    await runOk('up', '--control-plane', '--name', name);
    rmSync(`${clusterFolder(name)}/run/etcd.json`);
    await runOk('up', '--control-plane', '--name', name);
    rmSync(`${clusterFolder(name)}/run/etcd.json`);
    await runOk('down', '--name', name);
    await until('nothing is left', () => remainsOf(name).length === 0);
  });

  test('a command with the name of an unknown cluster fails with a message that contains the name', async () => {
    const { code, stderr } = await runClusterCommand('kubeconfig', '--name', 'nowhere');
    expect(code).toBe(1);
    expect(stderr).toContain('There is no cluster nowhere');
  });
});
