import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { kubectl, kubectlOk } from '../../hack/cluster/kubectl.ts';
import { chatCall } from '../support/chat-call.ts';
import { until } from '../support/until.ts';
import { forwardPort } from './forward-port.ts';
import { chartFolder, helm, helmOk } from './helm.ts';
import { openTestCluster, type TestCluster } from './open-test-cluster.ts';
import { runTraffic, type Traffic } from './run-traffic.ts';

const release = 'portcullis';
const minutes = (count: number): number => count * 60_000;

/** How long each step took, in the order of the steps. */
const times: (readonly [what: string, seconds: number])[] = [];

async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  const result = await run();
  const seconds = (performance.now() - begun) / 1_000;
  times.push([what, seconds]);
  console.log(`${what}: ${seconds.toFixed(1)} s`);
  return result;
}

describe('the chart on a cluster', () => {
  let cluster: TestCluster;
  const namespace = `portcullis-e2e-${randomBytes(3).toString('hex')}`;
  const admin = (args: readonly string[], input?: string): Promise<string> =>
    kubectlOk(cluster.kubeconfigFile, [`--namespace=${namespace}`, ...args], input);
  const run = (...args: readonly string[]) => helmOk([...args, `--namespace=${namespace}`], cluster.kubeconfigFile);
  const waiting = ['--wait', '--timeout=10m'];
  const imageArgs = (index: 0 | 1): readonly string[] => {
    const { repository, tag } = cluster.images[index];
    return [`--set=image.repository=${repository}`, `--set=image.tag=${tag}`];
  };
  const modelIsReady = () => admin(['wait', '--for=condition=Ready', 'modelbinding/guarded-echo', '--timeout=8m']);
  const traffic = (action: () => Promise<void>): Promise<Traffic> =>
    runTraffic(
      {
        kubectl: admin,
        image: cluster.images[0],
        url: `http://${release}-gateway.${namespace}.svc`,
        keys: `${release}-client-keys`,
      },
      action,
    );
  const showPods = async (): Promise<void> => {
    const { stdout } = await kubectl(cluster.kubeconfigFile, [
      `--namespace=${namespace}`,
      'get',
      'pods,portcullis',
      '--output=wide',
    ]);
    console.log(stdout);
  };

  beforeAll(async () => {
    cluster = await timed('cluster and images', openTestCluster);
    await admin(['create', 'namespace', namespace]);
    await admin(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']);
  }, minutes(45));
  afterAll(async () => {
    if (cluster !== undefined && !cluster.isOurs) {
      await kubectl(cluster.kubeconfigFile, ['delete', 'namespace', namespace, '--wait=false']);
    }
    await cluster?.[Symbol.asyncDispose]();
    console.log(times.map(([what, seconds]) => `${seconds.toFixed(1).padStart(8)} s  ${what}`).join('\n'));
  }, minutes(5));

  test(
    'installs in a namespace of restricted pods, and brings a guarded model',
    async () => {
      try {
        await timed('helm install --wait', () => run('install', release, chartFolder, ...imageArgs(0), ...waiting));
        await timed('the example is applied', modelIsReady);
      } catch (error) {
        await showPods();
        throw error;
      }
      const restarts = '--output=jsonpath={.items[*].status.containerStatuses[*].restartCount}';
      expect((await admin(['get', 'pods', restarts])).split(' ')).toSatisfy((counts: readonly string[]) =>
        counts.every((count) => count === '0'),
      );
      // What was done once is not left behind.
      expect(await admin(['get', 'jobs', '--output=name'])).toBe('');
    },
    minutes(20),
  );

  test(
    'passes helm test',
    async () => {
      const text = await timed('helm test', () => run('test', release, '--logs', '--timeout=5m'));
      expect(text).toMatch(/Phase:\s+Succeeded/);
      for (const title of ['passes in a stream', 'is masked', 'is denied']) expect(text).toContain(title);
    },
    minutes(6),
  );

  test(
    'answers who follows the notes, with the key that they name, and nobody else',
    async () => {
      const clients = Buffer.from(
        await admin(['get', 'secret', `${release}-client-keys`, '--output=jsonpath={.data.clients}']),
        'base64',
      );
      const [key = ''] = clients.toString().split(' ');
      await using forward = await forwardPort(cluster.kubeconfigFile, namespace, `service/${release}-gateway`, 80);
      const ask = (content: string, more = {}) =>
        chatCall({ url: forward.url, key, model: 'guarded-echo', content, stream: false, ...more });
      expect(await ask('hello')).toMatchObject({ status: 200, text: 'hello', complete: true });
      expect(await ask('hello', { stream: true })).toMatchObject({ status: 200, text: 'hello', complete: true });
      expect(await ask('My card is 4111 1111 1111 1111.')).toMatchObject({ status: 200, text: 'My card is [card].' });
      expect(await ask('How to make a bomb?')).toMatchObject({ status: 403, error: { code: 'policy_denied' } });
      expect(await ask('hello', { key: 'another' })).toMatchObject({ status: 401 });
    },
    minutes(3),
  );

  test(
    'upgrades every process while requests go on, and none fails; no model is moved',
    async () => {
      const runtimes = () =>
        admin(['get', 'pods', '--selector=app.kubernetes.io/name=portcullis-runtime', '--output=name']);
      const before = await runtimes();
      const seen = await traffic(() =>
        timed('helm upgrade --wait, another image', async () => {
          await run('upgrade', release, chartFolder, ...imageArgs(1), '--set=gateway.logLevel=warn', ...waiting);
          // Replicas of before serve on for a while, and their end counts, too.
          await untilReplicasEnded();
        }),
      );
      console.log(`upgrade: ${JSON.stringify(seen)}`);
      expect(seen).toMatchObject({ failed: 0, faults: {} });
      const images = await admin([
        'get',
        'pods',
        '--selector=app.kubernetes.io/component in (operator,gateway,echo)',
        '--output=jsonpath={.items[*].spec.containers[*].image}',
      ]);
      expect(new Set(images.split(/\s+/).map((image) => image.split(':').at(-1)))).toEqual(
        new Set([cluster.images[1].tag]),
      );
      await modelIsReady();
      expect(await runtimes()).toBe(before);
    },
    minutes(20),
  );

  test(
    'goes back while requests go on, and none fails',
    async () => {
      const seen = await traffic(() =>
        timed('helm rollback --wait', async () => {
          await run('rollback', release, '1', ...waiting);
          await untilReplicasEnded();
        }),
      );
      console.log(`rollback: ${JSON.stringify(seen)}`);
      expect(seen).toMatchObject({ failed: 0, faults: {} });
      await modelIsReady();
      const level =
        '--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=="PORTCULLIS_LOG_LEVEL")].value}';
      expect(await admin(['get', 'deployment', `${release}-gateway`, level])).toBe('info');
    },
    minutes(20),
  );

  test('has made no request of the API server that its rights refuse', ({ skip }) => {
    if (cluster.auditLogFile === undefined) skip('the audit log of the API server is read on a local cluster only');
    const refused = readFileSync(cluster.auditLogFile ?? '', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`system:serviceaccount:${namespace}:`) && /"code":40[13]\b/.test(line));
    expect(refused.slice(0, 5)).toEqual([]);
  });

  test(
    'is removed, and leaves what people wrote; who comes back goes on from there',
    async () => {
      await timed('helm uninstall --wait', async () => void (await run('uninstall', release, ...waiting)));
      expect(await admin(['get', 'deployments', '--selector=app.kubernetes.io/managed-by=Helm', '--output=name'])).toBe(
        '',
      );
      expect(
        (await admin(['get', 'guardrailpolicies,modelbindings', '--output=name'])).trim().split('\n'),
      ).toHaveLength(2);
      expect(await admin(['get', 'crd', 'guardrailpolicies.portcullis.dev', '--output=name'])).not.toBe('');
      await timed('helm install --wait, once more', () =>
        run('install', release, chartFolder, ...imageArgs(0), ...waiting),
      );
      await modelIsReady();
      expect(await run('test', release, '--timeout=5m')).toMatch(/Phase:\s+Succeeded/);
    },
    minutes(25),
  );

  test(
    'with its policies removed first takes every workload away',
    async () => {
      await timed('removal of the example', async () => {
        await admin(['delete', 'modelbindings,guardrailpolicies', '--all', '--timeout=5m']);
        await until(
          'no workload is left',
          async () => {
            const names = await admin([
              'get',
              'deployments',
              '--selector=app.kubernetes.io/name=portcullis-runtime',
              '--output=name',
            ]);
            return names === '';
          },
          { deadlineMs: minutes(3), everyMs: 1_000 },
        );
      });
      expect(
        (await helm(['uninstall', release, `--namespace=${namespace}`, ...waiting], cluster.kubeconfigFile)).code,
      ).toBe(0);
    },
    minutes(12),
  );

  async function untilReplicasEnded(): Promise<void> {
    await until(
      'replicas of before have ended',
      async () => {
        const text = await admin([
          'get',
          'pods',
          '--selector=app.kubernetes.io/managed-by=Helm',
          '--output=jsonpath={.items[*].metadata.deletionTimestamp}',
        ]);
        return text === '';
      },
      { deadlineMs: minutes(5), everyMs: 1_000 },
    );
  }
});
