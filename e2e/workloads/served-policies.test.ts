import { describe, expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap, Service } from '#kube/client/builtin-types';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { definitionOf, policyObject } from '../../operator/testing/objects.ts';
import { missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { useWorkloadWorld } from './open-workload-namespace.ts';
import { startClusterOperator } from './start-cluster-operator.ts';

const name = 'portcullis-served-text';

describe.skipIf(missingApiServer !== undefined)(onApiServer('policies that are served directly'), () => {
  const world = useWorkloadWorld();

  const listing = (revision: number): string =>
    `policies: [{ name: text, policyRef: { name: guard, revision: ${revision} }, contentProfile: ${currentProfile} }]`;
  const start = (revision: number | undefined, maxStreamMs = 900_000) =>
    startClusterOperator(world.server, world.namespace, world.folder, {
      maxStreamMs,
      files: { 'served-policies.yaml': revision === undefined ? 'policies: []' : listing(revision) },
    });
  const workloads = async () => (await world.namespace.client.list<RuntimeWorkload>(kinds.runtimeWorkload)).items;
  const published = async () => (await world.namespace.client.get<ConfigMap>(builtinKinds.configMap, name))?.data;

  async function leadsTo(revision: number, isReady = true): Promise<string> {
    return until(`the address resolves to revision ${revision}`, async () => {
      if (isReady) for (const { metadata } of await workloads()) await world.namespace.setPods(metadata.name, true);
      const service = await world.namespace.client.get<Service>(builtinKinds.service, name);
      const data = await published();
      return data?.['policyRevision'] === String(revision)
        ? service?.spec.selector?.['portcullis.dev/workload']
        : undefined;
    });
  }

  async function recordSecond(): Promise<void> {
    const guard = await world.namespace.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
    await world.namespace.client.patch(kinds.guardrailPolicy, 'guard', [
      { op: 'replace', path: '/spec', value: { ...guard?.spec, definition: definitionOf('second') } },
    ]);
    await until('it is recorded', async () => {
      const policy = await world.namespace.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
      return policy?.status?.latestRevision?.number === 2;
    });
  }

  test('a served policy has a stable address that points to a ready workload; the previous workload drains by time', async () => {
    const first = await start(1);
    await world.namespace.client.create(kinds.guardrailPolicy, policyObject('guard'));
    const one = await leadsTo(1);
    const told = await published();
    expect(told).toMatchObject({
      address: `http://${name}.${world.namespace.client.namespace}.svc:8000`,
      workloadAddress: `http://${one}.${world.namespace.client.namespace}.svc:8000`,
      bundleDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      contentProfile: currentProfile,
    });
    await recordSecond();
    await first[Symbol.asyncDispose]();

    const second = await start(2, 4_000);
    await until('the next workload starts', async () => (await workloads()).length === 2);
    // The pods are not ready, so the address does not change.
    expect(await leadsTo(1, false)).toBe(one);
    const two = await leadsTo(2);
    expect(two).not.toBe(one);
    expect((await published())?.['address']).toBe(told?.['address']);
    expect((await workloads()).map(({ metadata }) => metadata.name)).toContain(one);
    await until('the first workload is deleted', async () =>
      (await workloads()).every(({ metadata }) => metadata.name === two),
    );
    const before = await world.namespace.atRest();
    expect(await world.namespace.atRest()).toEqual(before);

    await world.namespace.kubectl('delete', 'configmap', name);
    await until('the address is published again', published);
    await second[Symbol.asyncDispose]();
    await using last = await start(undefined);
    await until('nothing is left', async () => {
      const left = await world.namespace.kubectl(
        'get',
        'service,configmap',
        '--selector=portcullis.dev/served',
        '--output=name',
      );
      return left === '' && (await workloads()).length === 0;
    });
    expect(last.events).toContain('leading');
  });

  test('a served policy is deleted only with a confirmation, and not until it is no longer served', async () => {
    await using _operator = await start(1);
    await world.namespace.client.create(kinds.guardrailPolicy, policyObject('guard'));
    await leadsTo(1);
    await until('the status names the served policy', async () => {
      const policy = await world.namespace.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
      return policy?.status?.servedAs?.includes('text');
    });
    const remove = () => world.namespace.kubectl('delete', 'guardrailpolicy', 'guard', '--wait=false');
    await expect(remove()).rejects.toThrow('the served policy text refers to the GuardrailPolicy guard');
    await world.namespace.kubectl('annotate', 'guardrailpolicy', 'guard', 'portcullis.dev/confirm-deletion=true');
    await remove();
    await until('the condition names the object that holds the deletion', async () => {
      const policy = await world.namespace.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
      return policy?.status?.conditions?.some(({ message }) => message.includes('served policy text'));
    });
    expect(await leadsTo(1)).toBeDefined();
  });
});
