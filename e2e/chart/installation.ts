import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { until } from '#kit/testing/until';
import { kubectl, kubectlOk } from '../../hack/cluster/control-plane/kubectl.ts';
import { definitionOf } from '../../operator/testing/objects.ts';
import { maskedTerm, replacement, sampleDefinition } from '../support/sample-policy.ts';
import { askAs } from './ask-as.ts';
import {
  type DatabaseInstallation,
  policiesPath,
  testKilledDatabase,
  testOtherMajorVersion,
  testPlaceOfData,
} from './database-suite.ts';
import { expectedRelease } from './foreign/decide-use.ts';
import { forwardPort } from './forward-port.ts';
import { withLongestTimeouts } from './longest-timeouts.ts';
import { openGateway } from './open-gateway.ts';
import { type ClusterManagement, openClusterManagement } from './open-management.ts';
import { missingCluster, openTestCluster } from './open-test-cluster.ts';
import { runTraffic, type Traffic } from './run-traffic.ts';
import { createTimetable } from './timetable.ts';
import { chartFolder, helm, helmOk } from './tools/helm.ts';
import type { TestCluster } from './tools/test-cluster.ts';
import { accountAudience, trustAccounts } from './trust-accounts.ts';

const words = `${expectedRelease} charts/portcullis`;
const forwardAndAsk = `kubectl port-forward service/${expectedRelease}-gateway, curl /v1/chat/completions`;
const consoleHost = 'console.example';
const consoleValues = [
  '--set=console.enabled=true',
  `--set=console.url=https://${consoleHost}`,
  '--set=console.oidc.issuerUrl=https://login.example',
];
const minutes = (count: number): number => count * 60_000;

const timetable = createTimetable();
const { timed } = timetable;
const missing = await missingCluster();

const describeChart = (): void => {
  let cluster: TestCluster;
  const admin = (args: readonly string[], input?: string): Promise<string> =>
    kubectlOk(cluster.kubeconfigFile, [`--namespace=${cluster.namespace}`, ...args], input);
  const run = async (...args: readonly string[]) => {
    try {
      return await helmOk([...args, `--namespace=${cluster.namespace}`], cluster.kubeconfigFile);
    } catch (error) {
      await showPods();
      throw error;
    }
  };
  const waiting = ['--wait', '--timeout=10m'];
  const folder = temporaryFolder();
  /** Values that allow ServiceAccounts to call the management API. */
  let trust: readonly string[];
  let installationFailed = false;
  /** An operation that completed before the tests that could lose it. */
  let early: string;
  const tokenOf = async (account: string): Promise<string> =>
    (await admin(['create', 'token', account, `--audience=${accountAudience}`])).trim();
  const manage = async (): Promise<ClusterManagement> => {
    const { kubeconfigFile, namespace } = cluster;
    return openClusterManagement(
      { kubeconfigFile, namespace, service: `service/${expectedRelease}-management` },
      await tokenOf('policies'),
    );
  };
  async function expectOperation(id: string): Promise<void> {
    await using management = await manage();
    const answer = await management.read(`/api/v1/operations/${id}`);
    expect(answer).toMatchObject({ status: 200, json: { operationId: id, state: 'succeeded' } });
  }
  const written = () =>
    admin(['get', 'guardrailpolicies.portcullis.dev,modelbindings.portcullis.dev', '--output=name']);
  const modelIsReady = () =>
    admin(['wait', '--for=condition=Ready', 'modelbinding.portcullis.dev/guarded-echo', '--timeout=8m']);
  const traffic = (action: () => Promise<void>): Promise<Traffic> =>
    runTraffic(
      {
        kubectl: admin,
        image: cluster.images[0],
        url: `http://${expectedRelease}-gateway.${cluster.namespace}.svc`,
        keys: `${expectedRelease}-client-keys`,
      },
      action,
    );
  async function askOnce(content: string) {
    await using gateway = await openGateway(cluster, expectedRelease);
    return await gateway.ask(content);
  }
  const showPods = async (): Promise<void> => {
    const args = ['get', 'pods,portcullis', '--output=wide', `--namespace=${cluster.namespace}`];
    console.log((await kubectl(cluster.kubeconfigFile, args)).stdout);
  };

  const installation: DatabaseInstallation = {
    release: expectedRelease,
    cluster: () => cluster,
    ownArgs: () => [...cluster.values[0], ...trust],
    early: () => early,
    admin,
    manage,
    askOnce,
    timed,
  };

  beforeAll(async () => {
    cluster = await openTestCluster(timetable);
  }, minutes(45));
  beforeEach(({ skip }) => {
    if (installationFailed) skip('nothing was installed: see the first failure');
  });
  afterAll(async () => {
    try {
      await cluster?.[Symbol.asyncDispose]();
    } finally {
      folder[Symbol.dispose]();
      console.log(timetable.lines().join('\n'));
      const seconds = timetable.sum('install', 'example', 'guarded answer');
      if (seconds !== undefined) console.log(`From helm install to a guarded chat answer: ${seconds.toFixed(1)} s`);
    }
  }, minutes(10));

  test(
    'the chart installs in a namespace of restricted pods and serves a guarded model',
    async () => {
      try {
        const install = () => run('install', expectedRelease, chartFolder, ...cluster.values[0], ...waiting);
        await timed('install', `helm install ${words} --set=image.tag=... --wait`, install);
        await timed('example', 'kubectl wait --for=condition=Ready modelbinding/guarded-echo', modelIsReady);
        const answer = await timed('guarded answer', forwardAndAsk, () => askOnce('My card is 4111 1111 1111 1111.'));
        expect(answer).toMatchObject({ status: 200, text: 'My card is [card].' });
      } catch (error) {
        installationFailed = true;
        await showPods();
        throw error;
      }
      const restarts = '--output=jsonpath={.items[*].status.containerStatuses[*].restartCount}';
      expect((await admin(['get', 'pods', restarts])).split(' ')).toSatisfy((counts: readonly string[]) =>
        counts.every((count) => count === '0'),
      );
      // Completed hooks are deleted.
      expect(await admin(['get', 'jobs', '--output=name'])).toBe('');
    },
    minutes(20),
  );

  test(
    'an installed release passes helm test',
    async () => {
      const text = await timed('test', `helm test ${expectedRelease}`, () =>
        run('test', expectedRelease, '--logs', '--timeout=5m'),
      );
      expect(text).toMatch(/Phase:\s+Succeeded/);
      const titles = [
        'passes in a stream',
        'is masked',
        'is denied',
        'the OpenAPI document',
        'a request without a token is refused',
      ];
      for (const title of titles) expect(text).toContain(title);
    },
    minutes(6),
  );

  test(
    "the gateway answers a client with the key from the chart's notes and refuses any other key",
    async () => {
      await using gateway = await openGateway(cluster, expectedRelease);
      const { ask } = gateway;
      expect(await ask('hello')).toMatchObject({ status: 200, text: 'hello', complete: true });
      expect(await ask('hello', { stream: true })).toMatchObject({ status: 200, text: 'hello', complete: true });
      expect(await ask('My card is 4111 1111 1111 1111.')).toMatchObject({ status: 200, text: 'My card is [card].' });
      expect(await ask('How to make a bomb?')).toMatchObject({ status: 403, error: { code: 'policy_denied' } });
      expect(await ask('hello', { key: 'another' })).toMatchObject({ status: 401 });
    },
    minutes(3),
  );

  test(
    'a ServiceAccount token can create, apply and roll back a policy through the management API',
    async () => {
      for (const account of ['policies', 'somebody']) await admin(['create', 'serviceaccount', account]);
      const kubectlOfCluster = (args: readonly string[]) => kubectlOk(cluster.kubeconfigFile, args);
      const options = { folder: folder.path, namespace: cluster.namespace, administrator: 'policies' };
      trust = ['--values', await trustAccounts(kubectlOfCluster, options), ...consoleValues];
      await timed('trust in accounts', `helm upgrade ${words} --values trust.json --wait`, () =>
        run('upgrade', expectedRelease, chartFolder, ...cluster.values[0], ...trust, ...waiting),
      );
      await using management = await manage();
      const { read, command, succeeded } = management;
      expect(await read(policiesPath, null)).toMatchObject({ status: 401 });
      expect(await read(policiesPath, await tokenOf('somebody'))).toMatchObject({ status: 403 });
      const other = (await admin(['create', 'token', 'policies', '--audience=another'])).trim();
      expect(await read(policiesPath, other)).toMatchObject({ status: 401 });
      const chat = (await read(policiesPath)).json.items.find((one: { name: string }) => one.name === 'guarded-chat');

      const body = { name: 'Harbour', definition: definitionOf('portal') };
      const created = await succeeded(await command('POST', policiesPath, body));
      early = created.operationId;
      const path = `${policiesPath}/${created.target.id}`;
      const selector = `--selector=portcullis.dev/id=${created.target.id}`;
      const shown = [
        'get',
        'guardrailpolicies.portcullis.dev',
        selector,
        '--output=jsonpath={.items[*].spec.displayName}',
      ];
      expect(await admin(shown)).toBe('Harbour');
      const { etag } = (await read(path)).headers;
      const next = { name: 'Harbour', description: '', status: 'draft', definition: sampleDefinition() };
      await succeeded(await command('PUT', path, next, etag));
      expect(await command('PUT', path, next, etag)).toMatchObject({ status: 412 });

      const modelId = await admin([
        'get',
        'modelbinding.portcullis.dev',
        'guarded-echo',
        '--output=jsonpath={.metadata.labels.portcullis\\.dev/id}',
      ]);
      const binding = `/api/v1/models/${modelId}/guardrail-binding`;
      const apply = async (policyId: string, policyRevision: number): Promise<void> => {
        const wanted = { policyId, policyRevision, contentProfile: currentProfile };
        await succeeded(await command('PUT', binding, wanted, (await read(binding)).headers['etag']));
        expect((await read(binding)).json).toMatchObject({ state: 'applied', binding: { policyId, policyRevision } });
      };
      const card = 'My card is 4111 1111 1111 1111.';
      await timed('a version applied over HTTP', 'PUT .../guardrail-binding', () => apply(created.target.id, 2));
      expect(await askOnce(`Sail to ${maskedTerm}.`)).toMatchObject({ status: 200, text: `Sail to ${replacement}.` });
      expect(await askOnce(card)).toMatchObject({ status: 200, text: card });
      const chatPath = `${policiesPath}/${chat.id}`;
      const own = await read(chatPath);
      const patient = withLongestTimeouts(own.json);
      await succeeded(await command('PUT', chatPath, patient, own.headers['etag']));
      await apply(chat.id, 2);
      expect(await askOnce(card)).toMatchObject({ status: 200, text: 'My card is [card].' });
    },
    minutes(10),
  );

  test(
    'the console answers requests to its own host and leads a person without a session to the sign-in',
    async () => {
      const { kubeconfigFile, namespace } = cluster;
      await using forward = await forwardPort(kubeconfigFile, namespace, `service/${expectedRelease}-console`, 80);
      expect(await askAs(consoleHost, forward.url)).toEqual({ status: 303, location: '/sign-in?return_to=%2F' });
      expect(await askAs('other.example', forward.url)).toMatchObject({ status: 421 });
    },
    minutes(3),
  );

  testKilledDatabase(installation);

  test(
    'a chart upgrade replaces every process without a failed request and changes no binding',
    async () => {
      const runtimes = () =>
        admin(['get', 'pods', '--selector=app.kubernetes.io/name=portcullis-runtime', '--output=name']);
      // The operator deletes the workload of the unbound revision.
      const before = await until(
        'one runtime is left',
        async () => {
          const names = await runtimes();
          return names.trim().split('\n').length === 1 ? names : undefined;
        },
        { deadlineMs: minutes(2), everyMs: 500 },
      );
      const seen = await traffic(() =>
        timed('upgrade', `helm upgrade ${words} --set=image.tag=... --wait`, async () => {
          const change = ['--set=gateway.logLevel=warn', ...trust];
          await run('upgrade', expectedRelease, chartFolder, ...cluster.values[1], ...change, ...waiting);
          // Replaced replicas keep serving while they drain, so that a failed request during their shutdown counts,
          // too.
          await untilReplicasEnded();
        }),
      );
      console.log(`upgrade: ${JSON.stringify(seen)}`);
      expect(seen).toMatchObject({ failed: 0, faults: {} });
      const images = await admin([
        'get',
        'pods',
        '--selector=app.kubernetes.io/component in (operator,gateway,echo,management,postgres)',
        '--output=jsonpath={.items[*].spec.containers[*].image}',
      ]);
      expect(new Set(images.split(/\s+/).map((image) => image.split(':').at(-1)))).toEqual(
        new Set([cluster.images[1].tag]),
      );
      await modelIsReady();
      expect(await runtimes()).toBe(before);
      await expectOperation(early);
    },
    minutes(20),
  );

  test(
    'a chart rollback completes without a failed request',
    async () => {
      const seen = await traffic(() =>
        timed('rollback', `helm rollback ${expectedRelease} 2 --wait`, async () => {
          await run('rollback', expectedRelease, '2', ...waiting);
          await untilReplicasEnded();
        }),
      );
      console.log(`rollback: ${JSON.stringify(seen)}`);
      expect(seen).toMatchObject({ failed: 0, faults: {} });
      await modelIsReady();
      const level =
        '--output=jsonpath={.spec.template.spec.containers[0].env[?(@.name=="PORTCULLIS_LOG_LEVEL")].value}';
      expect(await admin(['get', 'deployment', `${expectedRelease}-gateway`, level])).toBe('info');
      await expectOperation(early);
    },
    minutes(20),
  );

  test('no request of the release to the API server was refused for missing rights', ({ skip }) => {
    if (cluster.auditLogFile === undefined) skip('the audit log of the API server is read on a local cluster only');
    const refused = readFileSync(cluster.auditLogFile ?? '', 'utf8')
      .split('\n')
      .filter((line) => line.includes(`system:serviceaccount:${cluster.namespace}:`) && /"code":40[13]\b/.test(line));
    expect(refused.slice(0, 5)).toEqual([]);
  });

  test(
    'uninstalling the chart keeps policies and bindings, and a new installation uses them',
    async () => {
      const before = await written();
      await timed('uninstall', `helm uninstall ${expectedRelease} --wait`, () =>
        run('uninstall', expectedRelease, ...waiting),
      );
      expect(await admin(['get', 'deployments', '--selector=app.kubernetes.io/managed-by=Helm', '--output=name'])).toBe(
        '',
      );
      expect(await written()).toBe(before);
      expect(await admin(['get', 'crd', 'guardrailpolicies.portcullis.dev', '--output=name'])).not.toBe('');
      await timed('install once more', `helm install ${words} --set=image.tag=... --wait`, () =>
        run('install', expectedRelease, chartFolder, ...cluster.values[0], ...trust, ...waiting),
      );
      await modelIsReady();
      // The kept password belongs to the kept claim.
      await expectOperation(early);
      expect(await run('test', expectedRelease, '--timeout=5m')).toMatch(/Phase:\s+Succeeded/);
    },
    minutes(25),
  );

  testPlaceOfData(installation);
  testOtherMajorVersion(installation);

  test(
    'uninstalling the chart after its policies were deleted removes every workload',
    async () => {
      await timed('removal of the example', 'kubectl delete modelbindings,guardrailpolicies --all', async () => {
        const everything = 'modelbindings.portcullis.dev,guardrailpolicies.portcullis.dev';
        await admin(['annotate', everything, '--all', 'portcullis.dev/confirm-deletion=true']);
        await admin(['delete', everything, '--all', '--timeout=5m']);
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
      const uninstall = ['uninstall', expectedRelease, `--namespace=${cluster.namespace}`, ...waiting];
      expect((await helm(uninstall, cluster.kubeconfigFile)).code).toBe(0);
    },
    minutes(12),
  );

  async function untilReplicasEnded(): Promise<void> {
    await until(
      'the replicas of the previous release have exited',
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
};

if (missing === undefined) describe('the chart on a cluster', describeChart);
else test('the chart on a cluster', ({ skip }) => skip(missing));
