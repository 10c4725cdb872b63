import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { buildPrograms } from '../build/build-programs.ts';
import { kubectl, kubectlOk } from '../control-plane/kubectl.ts';
import { imageName } from '../image/portcullis-image.ts';
import type { ClusterState } from '../life/status.ts';
import { progressOn, silentProgress } from '../machine/progress.ts';
import { missingForNode } from '../whole/missing-for-node.ts';
import { remainsOf } from './remains.ts';
import { mainFile, runClusterCommand, runOk } from './run-command.ts';
import { pod, scriptPod, service, statefulSet } from './sample-objects.ts';

const name = 'selftest';
/** The first run on a machine builds all programs, hence the long timeout. */
const buildMs = 1_800_000;
const podMs = 120_000;

const missing = await missingForNode(progressOn(process.stderr));

/**
 * Everything that a cluster leaves on the machine when it was not cleaned up: interfaces, mounts, groups and processes.
 */
function machineState(): Readonly<Record<string, string>> {
  const read = (...command: readonly [string, ...string[]]): string =>
    execFileSync(command[0], command.slice(1), { encoding: 'utf8' });
  return {
    mounts: readFileSync('/proc/self/mountinfo', 'utf8'),
    interfaces: read('ip', '-o', 'link', 'show').replaceAll(/^\d+: /gm, ''),
    addresses: read('ip', '-o', '-4', 'address', 'show').replaceAll(/^\d+: /gm, ''),
    controlGroups: read('find', '/sys/fs/cgroup', '-type', 'd', '-name', '*portcullis*'),
    folders: read('find', '/var/lib', '/var/log', '/run', '-maxdepth', '1', '-type', 'd', '-name', '*[ck]*'),
    settings: ['net/ipv4/ip_forward', 'vm/overcommit_memory', 'kernel/panic', 'kernel/panic_on_oops']
      .map((setting) => readFileSync(`/proc/sys/${setting}`, 'utf8').trim())
      .join(' '),
  };
}

const describeWhole = (): void => {
  let before: Readonly<Record<string, string>>;
  let kubeconfig: string;
  const admin = (...args: readonly string[]): Promise<string> => kubectlOk(kubeconfig, args);
  const apply = (...objects: readonly object[]): Promise<string> =>
    kubectlOk(
      kubeconfig,
      ['apply', '--filename=-'],
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
    );
  const stateOf = async (): Promise<ClusterState> => {
    const [state] = JSON.parse((await runClusterCommand('status', '--name', name, '--json')).stdout) as [ClusterState];
    return state;
  };

  beforeAll(async () => {
    await runClusterCommand('down', '--name', name);
    before = machineState();
    await runOk('up', '--local', '--name', name);
    kubeconfig = (await runOk('kubeconfig', '--name', name)).stdout.trim();
    await runOk('load', '--name', name);
  }, buildMs);

  afterAll(async () => {
    await runOk('down', '--name', name);
    expect(remainsOf(name)).toEqual([]);
    expect(machineState()).toEqual(before);
  });

  test('a whole cluster has a node that is ready', async () => {
    const node = await admin(
      'get',
      'nodes',
      '--output=jsonpath={.items[*].metadata.name} {.items[*].status.nodeInfo.kubeletVersion}',
    );
    expect(node).toBe(`${name}-node v1.36.3`);
  });

  test('a whole cluster is not started twice', async () => {
    expect((await runClusterCommand('up', '--local', '--name', name)).stderr).toContain('runs already');
    const other = await runClusterCommand('up', '--control-plane', '--name', name);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('is a whole cluster: take it down first');
  });

  test('a whole cluster is refused to a user other than root, and the message names an alternative', () => {
    using folder = temporaryFolder();
    chmodSync(folder.path, 0o777);
    const { status, stderr } = spawnSync(process.execPath, [mainFile, 'up', '--local', '--name', 'mine'], {
      encoding: 'utf8',
      uid: 65_534,
      gid: 65_534,
      env: { PATH: process.env.PATH, HOME: folder.path },
    });
    expect(stderr).toContain('needs root: start Docker, or repeat as root, or start only a control plane');
    expect(status).toBe(1);
  });

  test(
    'pods of a whole cluster reach each other by the name of a Service, and the machine reaches them by a node port',
    async () => {
      const answer = `require('node:http').createServer((request, response) => response.end('from ' + process.getuid())).listen(8080)`;
      await apply(pod('echo', scriptPod(imageName, answer)), service('echo', 'NodePort'));
      await admin('wait', '--for=condition=Ready', 'pod/echo', '--timeout=60s');
      const ask = `fetch('http://echo.default.svc.cluster.local').then((answer) => answer.text()).then(console.log, (error) => { console.log(String(error.cause)); process.exit(1); })`;
      await apply(pod('asking', { ...scriptPod(imageName, ask), restartPolicy: 'OnFailure' }));
      await admin('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/asking', '--timeout=60s');
      expect(await admin('logs', 'asking')).toBe('from 65532\n');
      expect(await admin('exec', 'echo', '--', 'node', '--eval', ask)).toBe('from 65532\n');

      const port = await admin('get', 'service', 'echo', '--output=jsonpath={.spec.ports[0].nodePort}');
      const { nodeAddress } = await stateOf();
      const direct = await until('the node port answers', async () =>
        (await fetch(`http://${nodeAddress}:${port}`)).text(),
      );
      expect(direct).toBe('from 65532');
    },
    podMs,
  );

  test(
    'kubectl can run a command in a pod of a whole cluster and forward a port to it',
    async () => {
      expect(await admin('exec', 'echo', '--', 'node', '--print', '6*7')).toBe('42\n');
      // Names outside of the cluster, such as those of registries and model providers, must fail immediately.
      const lookUp = `require('node:dns').lookup('example.com', (error) => console.log(error.code))`;
      expect(await admin('exec', 'echo', '--', 'node', '--eval', lookUp)).toBe('ENOTFOUND\n');
      const { kubectl: program } = await buildPrograms(['kubectl'], silentProgress);
      const forward = spawn(program, [`--kubeconfig=${kubeconfig}`, 'port-forward', 'pod/echo', ':8080'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        const [line] = (await once(createInterface({ input: forward.stdout }), 'line')) as [string];
        const port = /:(\d+) ->/.exec(line)?.[1];
        expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('from 65532');
      } finally {
        forward.kill();
      }
    },
    podMs,
  );

  test(
    'a claim in a whole cluster gets a folder that a pod without root can write to; it is kept, and removed with the claim',
    async () => {
      const write = `const fs = require('node:fs'); fs.appendFileSync('/data/starts', 'once '); console.log(fs.readFileSync('/data/starts', 'utf8')); setInterval(() => {}, 1000)`;
      await apply(statefulSet('keeper', scriptPod(imageName, write, { claim: 'data', path: '/data' })));
      await admin('rollout', 'status', 'statefulset/keeper', '--timeout=60s');
      expect(
        await admin('get', 'pvc', 'data-keeper-0', '--output=jsonpath={.status.phase} {.status.capacity.storage}'),
      ).toBe('Bound 1Gi');
      expect(await until('a line', async () => (await admin('logs', 'keeper-0')) || undefined)).toBe('once \n');
      await admin('delete', 'pod', 'keeper-0');
      await admin('rollout', 'status', 'statefulset/keeper', '--timeout=60s');
      expect(await until('a line', async () => (await admin('logs', 'keeper-0')) || undefined)).toBe('once once \n');
      await admin('delete', 'statefulset', 'keeper');
      await admin('delete', 'pvc', 'data-keeper-0');
      await until('the volume is gone', async () => (await admin('get', 'pv', '--output=name')) === '');
    },
    podMs,
  );

  test(
    'a pod of a whole cluster can call the API server with the token of its service account',
    async () => {
      const script = `const fs = require('node:fs'), at = '/var/run/secrets/kubernetes.io/serviceaccount/';
      require('node:https').get('https://kubernetes.default.svc/api/v1/namespaces', { ca: fs.readFileSync(at + 'ca.crt'),
        headers: { authorization: 'Bearer ' + fs.readFileSync(at + 'token', 'utf8') } }, (answer) => console.log(answer.resume().statusCode))`;
      await apply(pod('caller', { ...scriptPod(imageName, script), restartPolicy: 'OnFailure' }));
      await admin('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/caller', '--timeout=60s');
      // 403: the caller is authenticated and has no right. 401 would mean that the token was rejected.
      expect(await admin('logs', 'caller')).toBe('403\n');
    },
    podMs,
  );

  test(
    'a whole cluster runs the processes of the checkout',
    async () => {
      const args = ['run', 'help', `--image=${imageName}`, '--image-pull-policy=IfNotPresent', '--restart=Never'];
      await admin(...args, '--', 'cli/main.ts', '--help');
      await admin('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/help', '--timeout=60s');
      expect(await admin('logs', 'help')).toContain('Usage: portcullis');
    },
    podMs,
  );

  test(
    'a whole cluster reports a component that ended and restarts it',
    async () => {
      const scheduler = (state: ClusterState) => state.components.find((one) => one.name === 'kube-scheduler');
      process.kill(scheduler(await stateOf())?.pid ?? 0, 'SIGKILL');
      await until('status reports that the component ended', async () => scheduler(await stateOf())?.state === 'ended');
      await runOk('up', '--local', '--name', name);
      expect(await stateOf()).toMatchObject({ ready: true });
      expect((await kubectl(kubeconfig, ['get', 'pod', 'echo'])).code).toBe(0);
    },
    podMs,
  );

  test(
    'a whole cluster starts again after all of its processes were killed',
    async () => {
      const space = (state: ClusterState) => state.components.find((one) => one.name === 'space');
      process.kill(space(await stateOf())?.pid ?? 0, 'SIGKILL');
      // The process of the namespaces ends after all processes inside of them.
      await until('all processes of the cluster end', async () => space(await stateOf())?.state === 'ended');
      const { stderr } = await runOk('up', '--local', '--name', name);
      expect(stderr).toContain('removing its remains');
      expect(await admin('get', 'pods', '--output=name')).toBe('');
    },
    podMs,
  );
};

if (missing === undefined) describe('a whole cluster', describeWhole);
else test('a whole cluster', ({ skip }) => skip(missing));
