import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GatewayReport } from '#crds/gateway-report';
import type { GuardrailPolicy, GuardrailPolicyStatus } from '#crds/guardrail-policy';
import { idLabel, kinds, operatorFinalizer } from '#crds/kinds';
import type { Resource, Stored } from '#crds/metadata';
import type { ModelBinding } from '#crds/model-binding';
import { applyDesired, patchOperations, statusOperations } from '../apply.ts';
import type { KubeClient, WatchEvent } from '../client.ts';
import { compareVersions } from '../compare-versions.ts';
import { KubeError, type KubeErrorCode } from '../kube-error.ts';
import { listAll } from '../list-all.ts';
import { sampleBinding, samplePolicy, sampleReport, sampleRevision } from './sample-resources.ts';

/** A server to judge. Names of other tests may be in it; each test uses names of its own. */
export type ResourceServer = AsyncDisposable & { readonly client: KubeClient };

const policies = kinds.guardrailPolicy;

/**
 * What every server of the resources port promises: the operator's folder and the Kubernetes API alike.
 * Pruning, CEL, admission and rights are not part of it.
 */
export function testResourceServer(name: string, open: () => Promise<ResourceServer>): void {
  describe(name, () => {
    let server: ResourceServer;
    beforeAll(async () => {
      server = await open();
    });
    afterAll(() => server[Symbol.asyncDispose]());
    const client = (): KubeClient => server.client;
    describe('create', () => testCreate(client));
    describe('patch', () => testPatch(client));
    describe('status', () => testStatus(client));
    describe('delete', () => testDelete(client));
    describe('owners', () => testOwners(client));
    describe('list', () => testList(client));
    describe('watch', () => testWatch(client));
  });
}

function testCreate(client: () => KubeClient): void {
  test('sets what belongs to the server and returns what was sent', async () => {
    const sent = samplePolicy('create-sets', { labels: { team: 'a' }, annotations: { note: 'x' } });
    const stored = await client().create<GuardrailPolicy>(policies, sent);
    expect(stored.metadata).toMatchObject({ name: 'create-sets', namespace: client().namespace, generation: 1 });
    expect(stored.metadata).toMatchObject({ labels: { team: 'a' }, annotations: { note: 'x' } });
    expect(stored.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(stored.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(stored.spec).toEqual(sent.spec);
    expect(await client().get(policies, 'create-sets')).toEqual(stored);
  });

  test('refuses a second object of the name and keeps the first', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('create-twice'));
    await refused('already_exists', client().create(policies, samplePolicy('create-twice')));
    expect(await client().get(policies, 'create-twice')).toEqual(first);
  });

  test('gives one of two racing creates the name', async () => {
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map(() => client().create(policies, samplePolicy('create-race'))),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  test('gives a re-created object a new UID, a higher version and generation 1', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('create-again'));
    await client().delete(policies, 'create-again', { uid: first.metadata.uid });
    const second = await client().create<GuardrailPolicy>(policies, samplePolicy('create-again'));
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect(compareVersions(second.metadata.resourceVersion, first.metadata.resourceVersion)).toBe(1);
    expect(second.metadata.generation).toBe(1);
  });

  test('ignores a status', async () => {
    const sent: GuardrailPolicy = { ...samplePolicy('create-status'), status: { observedGeneration: 7 } };
    expect((await client().create<GuardrailPolicy>(policies, sent)).status).toBeUndefined();
  });

  test('refuses unknown fields and wrong types', async () => {
    const wrong = samplePolicy('create-wrong') as unknown as { spec: Record<string, unknown> };
    await refused('invalid', client().create(policies, { ...wrong, spec: { ...wrong.spec, extra: 1 } } as never));
    await refused('invalid', client().create(policies, { ...wrong, spec: { ...wrong.spec, displayName: 1 } } as never));
    expect(await client().get(policies, 'create-wrong')).toBeUndefined();
  });

  test('refuses a name that is no DNS name', async () => {
    await refused('invalid', client().create(policies, samplePolicy('Capital')));
    await refused('invalid', client().create(policies, samplePolicy('under_score')));
    await refused('invalid', client().create(policies, samplePolicy('a'.repeat(254))));
    expect((await client().create(policies, samplePolicy('a'.repeat(253)))).metadata.name).toHaveLength(253);
  });
}

function testPatch(client: () => KubeClient): void {
  test('counts a generation for a change of the spec only', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-generation'));
    const labelled = await applyDesired(client(), policies, first, { labels: { team: 'b' } });
    expect(labelled.metadata.generation).toBe(1);
    expect(compareVersions(labelled.metadata.resourceVersion, first.metadata.resourceVersion)).toBe(1);
    const renamed = await rename(client(), labelled, 'New');
    expect(renamed.metadata.generation).toBe(2);
    expect(renamed.spec.displayName).toBe('New');
    expect(renamed.metadata.labels).toEqual({ team: 'b' });
  });

  test('writes nothing when nothing changes', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-nothing'));
    const same = await client().patch<GuardrailPolicy>(policies, 'patch-nothing', [
      { op: 'replace', path: '/spec/displayName', value: first.spec.displayName },
    ]);
    expect(same.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('does nothing at all when a test fails', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-test'));
    await refused(
      'precondition_failed',
      client().patch(policies, 'patch-test', [
        { op: 'replace', path: '/spec/displayName', value: 'Half' },
        { op: 'test', path: '/metadata/uid', value: 'somebody-else' },
      ]),
    );
    expect(await client().get(policies, 'patch-test')).toEqual(first);
  });

  test('tests the resource version', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-version'));
    const second = await rename(client(), first, 'Second');
    await refused('precondition_failed', rename(client(), first, 'Third'));
    expect((await rename(client(), second, 'Third')).spec.displayName).toBe('Third');
  });

  test('tests the generation, which a status does not move', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-by-generation'));
    await writeStatus(client(), first, { observedGeneration: 1 });
    const spec = { ...first.spec, displayName: 'Second' };
    const operations = patchOperations(first, { spec }, 'generation');
    expect((await client().patch<GuardrailPolicy>(policies, 'patch-by-generation', operations)).spec).toEqual(spec);
    await refused('precondition_failed', client().patch(policies, 'patch-by-generation', operations));
  });

  test('lets one of racing writers through', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-race'));
    const results = await Promise.allSettled(['A', 'B', 'C', 'D'].map((one) => rename(client(), first, one)));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  test('refuses what the schema forbids and what is not there', async () => {
    await client().create<GuardrailPolicy>(policies, samplePolicy('patch-invalid'));
    await refused('invalid', client().patch(policies, 'patch-invalid', [{ op: 'add', path: '/spec/extra', value: 1 }]));
    await refused(
      'precondition_failed',
      client().patch(policies, 'patch-invalid', [{ op: 'remove', path: '/spec/no' }]),
    );
    await refused('not_found', client().patch(policies, 'patch-absent', [{ op: 'remove', path: '/spec' }]));
  });

  test('never changes the spec of a policy revision or an id that is set', async () => {
    const revision = await client().create(kinds.policyRevision, sampleRevision('patch-revision'));
    await refused(
      'invalid',
      client().patch(kinds.policyRevision, 'patch-revision', [{ op: 'replace', path: '/spec/number', value: 2 }]),
    );
    const labelled = await applyDesired(client(), kinds.policyRevision, revision, { labels: { [idLabel]: 'one' } });
    expect(labelled.metadata.labels).toEqual({ [idLabel]: 'one' });
    for (const value of ['two', null]) {
      await refused(
        'invalid',
        applyDesired(client(), kinds.policyRevision, labelled, { labels: { [idLabel]: value } }),
      );
    }
  });
}

function testStatus(client: () => KubeClient): void {
  test('is written apart from the rest, both ways', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('status-apart'));
    const written = await client().patchStatus<GuardrailPolicy>(policies, 'status-apart', [
      ...statusOperations(first, { observedGeneration: 1 }),
      { op: 'replace', path: '/spec/displayName', value: 'Smuggled' },
    ]);
    expect(written.status).toEqual({ observedGeneration: 1 });
    expect(written.spec).toEqual(first.spec);
    expect(written.metadata.generation).toBe(1);
    const patched = await client().patch<GuardrailPolicy>(policies, 'status-apart', [
      { op: 'replace', path: '/spec/displayName', value: 'New' },
      { op: 'replace', path: '/status/observedGeneration', value: 9 },
    ]);
    expect(patched.status).toEqual({ observedGeneration: 1 });
    expect(patched.spec.displayName).toBe('New');
  });

  test('is held to its schema and its preconditions', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('status-schema'));
    await refused('invalid', writeStatus(client(), first, { extra: 1 } as never));
    await writeStatus(client(), first, { observedGeneration: 1 });
    await refused('precondition_failed', writeStatus(client(), first, { observedGeneration: 2 }));
    const absent = { op: 'add', path: '/status', value: {} } as const;
    await refused('not_found', client().patchStatus(policies, 'status-absent', [absent]));
  });
}

function testDelete(client: () => KubeClient): void {
  test('hits only the object of the UID and version', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('delete-uid'));
    const { uid, resourceVersion } = first.metadata;
    await refused('conflict', client().delete(policies, 'delete-uid', { uid: '00000000-0000-4000-8000-000000000000' }));
    const second = await rename(client(), first, 'Second');
    await refused('conflict', client().delete(policies, 'delete-uid', { uid, resourceVersion }));
    expect(await client().get(policies, 'delete-uid')).toEqual(second);
    await client().delete(policies, 'delete-uid', { uid, resourceVersion: second.metadata.resourceVersion });
    expect(await client().get(policies, 'delete-uid')).toBeUndefined();
    await refused('not_found', client().delete(policies, 'delete-uid', { uid }));
  });

  test('waits for the last finalizer and accepts no new one meanwhile', async () => {
    const finalizers = [operatorFinalizer, 'portcullis.dev/second'];
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('delete-finalizers', { finalizers }));
    await client().delete(policies, 'delete-finalizers', { uid: first.metadata.uid });
    const marked = await present(client(), 'delete-finalizers');
    expect(marked.metadata.deletionTimestamp).toMatch(/Z$/);
    expect(marked.metadata.generation).toBe(2);
    await client().delete(policies, 'delete-finalizers', { uid: first.metadata.uid });
    expect(await client().get(policies, 'delete-finalizers')).toEqual(marked);
    await refused(
      'invalid',
      applyDesired(client(), policies, marked, { finalizers: [...finalizers, 'portcullis.dev/third'] }),
    );
    const one = await applyDesired(client(), policies, marked, { finalizers: [operatorFinalizer] });
    expect(await client().get(policies, 'delete-finalizers')).toEqual(one);
    await applyDesired(client(), policies, one, { finalizers: [] });
    expect(await client().get(policies, 'delete-finalizers')).toBeUndefined();
  });

  test('keeps a deletion once it is asked for', async () => {
    const finalizers = [operatorFinalizer];
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('delete-stays', { finalizers }));
    await client().delete(policies, 'delete-stays', { uid: first.metadata.uid });
    const marked = await present(client(), 'delete-stays');
    const patched = await client().patch<GuardrailPolicy>(policies, 'delete-stays', [
      { op: 'remove', path: '/metadata/deletionTimestamp' },
      { op: 'replace', path: '/spec/displayName', value: 'New' },
    ]);
    expect(patched.metadata.deletionTimestamp).toBe(marked.metadata.deletionTimestamp);
    await applyDesired(client(), policies, patched, { finalizers: [] });
  });
}

function testOwners(client: () => KubeClient): void {
  test('takes the dependents of an owner that is gone along, by UID', async () => {
    const owner = await client().create<ModelBinding>(kinds.modelBinding, sampleBinding('owner'));
    const other = await client().create<ModelBinding>(kinds.modelBinding, sampleBinding('owner-other'));
    const reference = (of: Stored<ModelBinding>) => ({
      apiVersion: of.apiVersion,
      kind: of.kind,
      name: of.metadata.name,
      uid: of.metadata.uid,
    });
    const report = (name: string, ...owners: Stored<ModelBinding>[]) =>
      client().create<GatewayReport>(
        kinds.gatewayReport,
        sampleReport(name, { ownerReferences: owners.map(reference) }),
      );
    await report('owned-by-one', owner);
    await report('owned-by-both', owner, other);
    await client().delete(kinds.modelBinding, 'owner', { uid: owner.metadata.uid });
    await eventually(async () => {
      expect(await client().get(kinds.gatewayReport, 'owned-by-one')).toBeUndefined();
    });
    expect(await client().get(kinds.gatewayReport, 'owned-by-both')).toBeDefined();
    await client().delete(kinds.modelBinding, 'owner-other', { uid: other.metadata.uid });
    await eventually(async () => {
      expect(await client().get(kinds.gatewayReport, 'owned-by-both')).toBeUndefined();
    });
  });
}

function testList(client: () => KubeClient): void {
  const selector = { labelSelector: 'suite=list' };

  test('pages through one point in time, ordered by name', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `list-${index}`);
    for (const name of names) await client().create(policies, samplePolicy(name, { labels: { suite: 'list' } }));
    const first = await client().list(policies, { ...selector, limit: 3 });
    expect(first.continue).toBeDefined();
    await client().create(policies, samplePolicy('list-9', { labels: { suite: 'list' } }));
    const gone = await present(client(), 'list-5');
    await client().delete(policies, 'list-5', { uid: gone.metadata.uid });
    const seen = [...first.items];
    let page = first;
    while (page.continue !== undefined) {
      page = await client().list(policies, { ...selector, limit: 3, continue: page.continue });
      expect(page.resourceVersion).toBe(first.resourceVersion);
      seen.push(...page.items);
    }
    expect(seen.map((item) => item.metadata.name)).toEqual(names);
    const events = await collect(client(), page.resourceVersion, 2);
    expect(events).toEqual(['ADDED list-9', 'DELETED list-5']);
  });

  test('selects by label and shows each object whole', async () => {
    await client().create(policies, samplePolicy('select-a', { labels: { pick: 'a' } }));
    await client().create(policies, samplePolicy('select-b', { labels: { pick: 'b' } }));
    const chosen = await client().list<GuardrailPolicy>(policies, { labelSelector: 'pick=a' });
    expect(chosen.items).toEqual([await client().get(policies, 'select-a')]);
    const notB = await client().list(policies, { labelSelector: 'pick,pick!=b' });
    expect(notB.items.map((item) => item.metadata.name)).toEqual(['select-a']);
    const either = await client().list(policies, { labelSelector: 'pick in (a,b)' });
    expect(either.items).toHaveLength(2);
  });

  test('refuses a token that it does not know', async () => {
    await expect(client().list(policies, { limit: 3, continue: 'bm9ib2R5' })).rejects.toBeInstanceOf(KubeError);
  });
}

function testWatch(client: () => KubeClient): void {
  test('delivers every change after a version, in order, with rising versions', async () => {
    const { resourceVersion } = await listAll(client(), policies);
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('watch-one'));
    const second = await rename(client(), first, 'Second');
    await client().delete(policies, 'watch-one', { uid: second.metadata.uid });
    const events: WatchEvent<GuardrailPolicy>[] = [];
    for await (const event of changes(client(), resourceVersion)) {
      events.push(event);
      if (events.length === 3) break;
    }
    expect(events.map((event) => event.type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    expect(events[0]?.object).toEqual(first);
    expect(events[1]?.object).toEqual(second);
    const versions = events.map((event) => event.object.metadata.resourceVersion);
    expect(versions).toEqual(versions.toSorted(compareVersions));
    expect(new Set(versions).size).toBe(3);
  });

  test('resumes after any event without a gap', async () => {
    const { resourceVersion } = await listAll(client(), policies);
    for (const name of ['resume-1', 'resume-2', 'resume-3']) await client().create(policies, samplePolicy(name));
    let version = resourceVersion;
    const seen: string[] = [];
    while (seen.length < 3) {
      for await (const event of changes(client(), version)) {
        version = event.object.metadata.resourceVersion;
        if (event.type !== 'BOOKMARK') seen.push(event.object.metadata.name);
        break;
      }
    }
    expect(seen).toEqual(['resume-1', 'resume-2', 'resume-3']);
  });

  test('delivers a change that comes later', async () => {
    const { resourceVersion } = await listAll(client(), policies);
    const events = collect(client(), resourceVersion, 1);
    await client().create(policies, samplePolicy('watch-later'));
    expect(await events).toEqual(['ADDED watch-later']);
  });

  test('ends at its time', async () => {
    const { resourceVersion } = await listAll(client(), policies);
    const started = performance.now();
    for await (const event of client().watch(policies, { resourceVersion, timeoutSeconds: 1 })) {
      expect(event.type).toBe('BOOKMARK');
    }
    expect(performance.now() - started).toBeGreaterThan(900);
  });

  test('says of a version that is too old that it is gone', async () => {
    await refused(
      'gone',
      (async () => {
        for await (const event of client().watch(policies, { resourceVersion: '1', timeoutSeconds: 2 })) return event;
        return undefined;
      })(),
    );
  });
}

async function refused(code: KubeErrorCode, call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toMatchObject({ name: 'KubeError', code });
}

function rename(client: KubeClient, current: Stored<GuardrailPolicy>, displayName: string) {
  return applyDesired(client, policies, current, { spec: { ...current.spec, displayName } });
}

function writeStatus(client: KubeClient, current: Stored<GuardrailPolicy>, status: GuardrailPolicyStatus) {
  return client.patchStatus<GuardrailPolicy>(policies, current.metadata.name, statusOperations(current, status));
}

async function present(client: KubeClient, name: string): Promise<Stored<GuardrailPolicy>> {
  const object = await client.get<GuardrailPolicy>(policies, name);
  if (object === undefined) throw new Error(`${name} is not there`);
  return object;
}

/** A watch that must not outlive a test. */
function changes(client: KubeClient, resourceVersion: string) {
  return client.watch<GuardrailPolicy>(policies, { resourceVersion, signal: AbortSignal.timeout(20_000) });
}

async function collect(client: KubeClient, resourceVersion: string, count: number): Promise<readonly string[]> {
  const seen: string[] = [];
  for await (const event of changes(client, resourceVersion)) {
    if (event.type !== 'BOOKMARK') seen.push(`${event.type} ${(event.object as Resource).metadata.name}`);
    if (seen.length === count) break;
  }
  return seen;
}

/** Polls until a check passes, with a deadline. */
async function eventually(check: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (true) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
