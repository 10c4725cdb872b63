import { describe, expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap } from '#kube/client/builtin-types';
import { sampleImageBundle } from '../../testing/sample-image.ts';
import { sampleVersion } from '../../testing/sample-version.ts';
import { makeAgentDeployment, makeAgentNetworkPolicy, makeAgentService } from './resources/agent-objects.ts';
import { type AgentCluster, openAgentCluster, testAgentTemplate } from './testing/agent-cluster.ts';

const name = 'a-0123456789abcdef0123';
const testVersion = await sampleVersion({ guardrails: { input: { name: 'texts', revision: 2 }, output: 'None' } });
const request = { name, resource: 'question-1', bundle: testVersion };
const plurals = ['configmaps', 'networkpolicies', 'services', 'deployments'] as const;

async function open(): Promise<AgentCluster> {
  const place = await openAgentCluster();
  onTestFinished(() => place[Symbol.asyncDispose]());
  return place;
}

const present = ({ server }: AgentCluster): readonly string[] =>
  plurals.filter((plural) => server.object(plural, name) !== undefined);

async function deployed(place: AgentCluster): Promise<void> {
  place.agents.ensure(request);
  await until('the objects are created', () => present(place).length === plurals.length);
}

test('the Kubernetes objects of an agent version equal their golden files', async () => {
  const objects = {
    deployment: makeAgentDeployment(request, testAgentTemplate),
    service: makeAgentService(name, testAgentTemplate),
    'network-policy': makeAgentNetworkPolicy(request, testAgentTemplate),
  };
  for (const [file, object] of Object.entries(objects)) {
    await expect(stringify(object)).toMatchFileSnapshot(`./testdata/${file}.yaml`);
  }
});

test('agent pods trust the certificate authorities of the environment, and have no such volume if none are configured', () => {
  const template = { ...testAgentTemplate, authoritiesConfigMap: 'company-authorities' };
  const variable = { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/portcullis/authorities/ca.crt' };
  const items = [{ key: 'ca.crt', path: 'ca.crt' }];
  const image = { ...request, bundle: sampleImageBundle('A2A') };
  for (const one of [request, image]) {
    const { containers, volumes } = makeAgentDeployment(one, template).spec.template.spec;
    expect(containers[0]?.env).toContainEqual(variable);
    expect(containers[0]?.volumeMounts).toContainEqual({
      name: 'authorities',
      mountPath: '/etc/portcullis/authorities',
      readOnly: true,
    });
    expect(volumes).toContainEqual({
      name: 'authorities',
      configMap: { name: 'company-authorities', items, defaultMode: 0o444 },
    });
    expect(JSON.stringify(makeAgentDeployment(one, testAgentTemplate))).not.toContain('authorities');
  }
});

test('agent pods can write temporary files in /tmp, and in no other folder', () => {
  const limits = { requestBytes: 1_024, timeoutMs: 1_000 };
  const one = (concurrency: number) => ({ ...request, bundle: { ...testVersion, limits: { ...limits, concurrency } } });
  for (const [of, sizeLimit] of [
    [one(1), '128Mi'],
    [one(256), '16448Mi'],
    [{ ...request, bundle: sampleImageBundle('A2A') }, '64Mi'],
  ] as const) {
    const { containers, volumes } = makeAgentDeployment(of, testAgentTemplate).spec.template.spec;
    const mounts = containers[0]?.volumeMounts ?? [];
    expect(mounts.filter((mount) => !('readOnly' in mount && mount.readOnly))).toEqual([
      { name: 'tmp', mountPath: '/tmp' },
    ]);
    expect(volumes).toContainEqual({ name: 'tmp', emptyDir: { sizeLimit } });
  }
});

describe('a version in a cluster', () => {
  test('the NetworkPolicy of an agent version is created before its pod, and the AgentVersion owns every object', async () => {
    const place = await open();
    await deployed(place);
    const kinds = place.writes().map((line) => line.split('/').at(-1));
    expect(kinds).toEqual(['configmaps', 'networkpolicies', 'services', 'deployments']);
    for (const plural of plurals) {
      const { metadata } = place.server.object(plural, name) ?? {};
      expect(metadata?.['ownerReferences'], plural).toMatchObject([
        { kind: 'AgentVersion', name: 'question-1', uid: testVersion.versionId, controller: true },
      ]);
    }
    expect(place.server.object('configmaps', name)).toMatchObject({ immutable: true });
    const address = await until('its address', () => place.agents.observe(name)?.address);
    expect(address).toBe(`http://${name}.team.svc:8080`);
  });

  test('an agent version is ready when its process and the kubelet report it ready, and its card is read from the pod', async () => {
    const place = await open();
    await deployed(place);
    await until('it is looked at', () => place.agents.observe(name));
    expect(place.agents.observe(name)).toMatchObject({ state: undefined, problem: undefined });
    await place.runPod(name, false);
    const starting = await until('its process answers', () => place.agents.observe(name)?.state);
    expect(starting).toMatchObject({ ready: false, problems: [{ code: 'starting' }] });
    await place.runPod(name);
    await until('it is ready', () => place.agents.observe(name)?.state?.ready === true);
    expect(place.agents.observe(name)).toMatchObject({ card: 'verified', problem: undefined });
    expect(new Set(place.changes)).toEqual(new Set(['question-1']));
  });

  test('a process that reports another version does not make an agent version ready', async () => {
    const place = await open();
    place.answer({ versionId: '01890a5d-ac96-774b-bcce-b302099a8099' });
    await deployed(place);
    await place.runPod(name);
    await until('it is looked at', () => place.agents.observe(name));
    expect(place.agents.observe(name)?.state).toBeUndefined();
  });

  test('an agent version has no pod until its policy is served in the required revision', async () => {
    const place = await open();
    place.served.set('texts', '1');
    place.agents.ensure(request);
    const { problem } = (await until('a problem', () => place.agents.observe(name))) ?? {};
    expect(problem).toEqual({
      reason: 'PolicyNotServed',
      message: 'revision 2 of the policy texts is not served: add it to the served policies',
    });
    expect(present(place)).toEqual(['configmaps']);
    place.served.set('texts', '2');
    await until('the objects are created', () => present(place).length === plurals.length);
    await until('the problem has ended', () => place.agents.observe(name)?.problem === undefined);
  });

  test('an operator with another image applies the stored manifest of an agent version and restarts nothing', async () => {
    const place = await open();
    await deployed(place);
    await place.runPod(name);
    const before = place.writes().length;
    await place.upgrade('portcullis:2');
    expect(place.agents.runs(name)).toBe(true);
    expect(place.agents.has(name)).toBe(false);
    place.agents.ensure(request);
    await until('it is ready', () => place.agents.observe(name)?.state?.ready === true);
    expect(place.writes()).toHaveLength(before);
    expect(JSON.stringify(place.server.object('deployments', name))).toContain('"image":"portcullis:1"');
  });

  test('a changed object of an agent version is restored, and a deleted one is created again', async () => {
    const place = await open();
    await deployed(place);
    place.server.change('deployments', name, (object) => {
      object['spec'] = { ...(object['spec'] as object), replicas: 3 };
    });
    await until('one replica is back', () => {
      const spec = place.server.object('deployments', name)?.['spec'] as { replicas: number } | undefined;
      return spec?.replicas === 1;
    });
    place.server.remove('networkpolicies', name);
    await until('the policy is back', () => present(place).length === plurals.length);
  });

  test('a deleted ConfigMap of an agent version is created again with the manifest that its pod was published with', async () => {
    const place = await open();
    await deployed(place);
    await place.runPod(name);
    await place.upgrade('portcullis:2');
    place.agents.ensure(request);
    await until('it is ready', () => place.agents.observe(name)?.state?.ready === true);
    const before = place.server.object('configmaps', name);
    const written = place.writes().length;
    place.server.remove('configmaps', name);
    await until('the ConfigMap is back', () => present(place).length === plurals.length);
    const after = place.server.object('configmaps', name);
    expect(after?.metadata.uid).not.toBe(before?.metadata.uid);
    expect({ ...after, metadata: undefined }).toEqual({ ...before, metadata: undefined });
    expect(after?.metadata['ownerReferences']).toEqual(before?.metadata['ownerReferences']);
    expect(
      place
        .writes()
        .slice(written)
        .map((line) => line.split('/').at(-1)),
    ).toEqual(['configmaps']);
    expect(JSON.stringify(place.server.object('deployments', name))).toContain('"image":"portcullis:1"');
    place.server.remove('configmaps', name);
    await until('the ConfigMap is back again', () => present(place).length === plurals.length);
  });

  test('a ConfigMap of another content in place of the ConfigMap of an agent version is refused until it is removed', async () => {
    const place = await open();
    await deployed(place);
    const { metadata, data } = place.server.object('configmaps', name) as unknown as {
      readonly metadata: { readonly labels: Record<string, string>; readonly ownerReferences: [] };
      readonly data: Record<string, string>;
    };
    const { labels, ownerReferences } = metadata;
    const changed = data['manifest.json']?.replace('portcullis:1', 'portcullis:3') ?? '';
    place.server.fallBehind('configmaps');
    place.server.remove('configmaps', name);
    await place.client.create<ConfigMap>(builtinKinds.configMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels, ownerReferences },
      data: { ...data, 'manifest.json': changed },
    });
    place.server.catchUp('configmaps');
    const problem = await until('a problem', () => place.agents.observe(name)?.problem);
    expect(problem).toEqual({
      reason: 'ObjectRefused',
      message: `the ConfigMap ${name} is not the one of this version: remove it`,
    });
    expect(JSON.stringify(place.server.object('deployments', name))).toContain('"image":"portcullis:1"');
    place.server.remove('configmaps', name);
    await until('the problem has ended', () => place.agents.observe(name)?.problem === undefined);
    expect(JSON.stringify(place.server.object('configmaps', name))).not.toContain('portcullis:3');
  });

  test('the operator counts the runs of an agent version that its predecessor started, and removes its objects', async () => {
    const place = await open();
    place.answer({ runs: 2 });
    await deployed(place);
    await place.runPod(name);
    await place.upgrade('portcullis:2');
    expect(place.agents.observe(name)).toBeUndefined();
    await until('its runs are counted', () => place.agents.observe(name)?.state?.runs === 2);
    place.agents.remove(name);
    await until('nothing is left', () => present(place).length === 0);
    expect(place.agents.observe(name)).toBeUndefined();
  });

  test('an object of another owner with the name of an agent object is not changed', async () => {
    const place = await open();
    const metadata = { name, labels: {} };
    await place.client.create(
      { kind: 'Service', plural: 'services', shortNames: [], internal: true, group: '', version: 'v1' },
      { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: { app: 'other' } } },
    );
    place.agents.ensure(request);
    const problem = await until('a problem', () => place.agents.observe(name)?.problem);
    expect(problem).toEqual({
      reason: 'ObjectRefused',
      message: `the Service ${name} exists and has another owner: remove or rename it`,
    });
    place.agents.remove(name);
    await until('its own objects are removed', () => present(place).join() === 'services');
  });
});
