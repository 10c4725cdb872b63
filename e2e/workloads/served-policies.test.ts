import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { currentProfile } from '#contracts/profiles';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap, Service } from '#kube/client/builtin-types';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { definitionOf, policyObject } from '../../operator/testing/objects.ts';
import { type ApiServer, missingApiServer, onApiServer } from '../kube/open-api-server.ts';
import { openSharedApiServer } from '../kube/shared-api-server.ts';
import { until } from '../support/until.ts';
import { openWorkloadNamespace, type WorkloadNamespace } from './open-workload-namespace.ts';
import { startClusterOperator } from './start-cluster-operator.ts';

const name = 'portcullis-served-text';

describe.skipIf(missingApiServer !== undefined)(onApiServer('policies that are served directly'), () => {
  let server: ApiServer;
  let namespace: WorkloadNamespace;
  let folder: string;
  beforeAll(async () => {
    server = await openSharedApiServer();
  }, 180_000);
  afterAll(() => server?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    namespace = await openWorkloadNamespace(server);
    folder = await mkdtemp(join(tmpdir(), 'portcullis-served-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const listing = (revision: number): string =>
    `policies: [{ name: text, policyRef: { name: guard, revision: ${revision} }, contentProfile: ${currentProfile} }]`;
  const start = (revision: number | undefined, maxStreamMs = 900_000) =>
    startClusterOperator(server, namespace, folder, {
      maxStreamMs,
      files: { 'served-policies.yaml': revision === undefined ? 'policies: []' : listing(revision) },
    });
  const workloads = async () => (await namespace.client.list<RuntimeWorkload>(kinds.runtimeWorkload)).items;
  const published = async () => (await namespace.client.get<ConfigMap>(builtinKinds.configMap, name))?.data;

  async function leadsTo(revision: number, isReady = true): Promise<string> {
    return until(`the address resolves to revision ${revision}`, async () => {
      if (isReady) for (const { metadata } of await workloads()) await namespace.setPods(metadata.name, true);
      const service = await namespace.client.get<Service>(builtinKinds.service, name);
      const data = await published();
      return data?.['policyRevision'] === String(revision)
        ? service?.spec.selector?.['portcullis.dev/workload']
        : undefined;
    });
  }

  async function recordSecond(): Promise<void> {
    const guard = await namespace.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
    await namespace.client.patch(kinds.guardrailPolicy, 'guard', [
      { op: 'replace', path: '/spec', value: { ...guard?.spec, definition: definitionOf('second') } },
    ]);
    await until('it is recorded', async () => {
      const policy = await namespace.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
      return policy?.status?.latestRevision?.number === 2;
    });
  }

  test('a served policy has a stable address that leads to a ready workload; the previous one drains by time', async () => {
    const first = await start(1);
    await namespace.client.create(kinds.guardrailPolicy, policyObject('guard'));
    const one = await leadsTo(1);
    const told = await published();
    expect(told).toMatchObject({
      address: `http://${name}.${namespace.client.namespace}.svc:8000`,
      workloadAddress: `http://${one}.${namespace.client.namespace}.svc:8000`,
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
    const before = await namespace.atRest();
    expect(await namespace.atRest()).toEqual(before);

    await namespace.kubectl('delete', 'configmap', name);
    await until('the address is published again', published);
    await second[Symbol.asyncDispose]();
    await using last = await start(undefined);
    await until('nothing is left', async () => {
      const left = await namespace.kubectl(
        'get',
        'service,configmap',
        '--selector=portcullis.dev/served',
        '--output=name',
      );
      return left === '' && (await workloads()).length === 0;
    });
    expect(last.events).toContain('leading');
  });

  test('a served policy cannot be deleted until it is no longer served', async () => {
    await using _operator = await start(1);
    await namespace.client.create(kinds.guardrailPolicy, policyObject('guard'));
    await leadsTo(1);
    await namespace.kubectl('delete', 'guardrailpolicy', 'guard', '--wait=false');
    await until('the condition names the object that holds the deletion', async () => {
      const policy = await namespace.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
      return policy?.status?.conditions?.some(({ message }) => message.includes('served policy text'));
    });
    expect(await leadsTo(1)).toBeDefined();
  });
});
