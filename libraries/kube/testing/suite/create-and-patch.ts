import { expect, test } from 'vitest';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { PolicyRevision } from '#resources/policy-revision';
import { purgedSpec } from '#resources/purged-revision';
import { applyDesired, patchOperations, statusOperations } from '../../apply/apply.ts';
import { compareVersions } from '../../watch/compare-versions.ts';
import { samplePolicy, sampleRevision } from '../sample-resources.ts';
import { type ClientSource, expectRefused, policies, rename, writeStatus } from './resource-calls.ts';

export function testCreate(client: ClientSource): void {
  test('create sets the server-side metadata and returns the spec that was sent', async () => {
    const sent = samplePolicy('create-sets', { labels: { team: 'a' }, annotations: { note: 'x' } });
    const stored = await client().create<GuardrailPolicy>(policies, sent);
    expect(stored.metadata).toMatchObject({ name: 'create-sets', namespace: client().namespace, generation: 1 });
    expect(stored.metadata).toMatchObject({ labels: { team: 'a' }, annotations: { note: 'x' } });
    expect(stored.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(stored.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(stored.spec).toEqual(sent.spec);
    expect(await client().get(policies, 'create-sets')).toEqual(stored);
  });

  test('create refuses a name that is taken and keeps the first object', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('create-twice'));
    await expectRefused('already_exists', client().create(policies, samplePolicy('create-twice')));
    expect(await client().get(policies, 'create-twice')).toEqual(first);
  });

  test('one of several concurrent creates of a name succeeds', async () => {
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map(() => client().create(policies, samplePolicy('create-race'))),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  test('a re-created object has a new UID, a higher version and generation 1', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('create-again'));
    await client().delete(policies, 'create-again', { uid: first.metadata.uid });
    const second = await client().create<GuardrailPolicy>(policies, samplePolicy('create-again'));
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    expect(compareVersions(second.metadata.resourceVersion, first.metadata.resourceVersion)).toBe(1);
    expect(second.metadata.generation).toBe(1);
  });

  test('create ignores a status', async () => {
    const sent: GuardrailPolicy = { ...samplePolicy('create-status'), status: { observedGeneration: 7 } };
    expect((await client().create<GuardrailPolicy>(policies, sent)).status).toBeUndefined();
  });

  test('create refuses unknown fields and wrong types', async () => {
    const wrong = samplePolicy('create-wrong') as unknown as { spec: Record<string, unknown> };
    await expectRefused('invalid', client().create(policies, { ...wrong, spec: { ...wrong.spec, extra: 1 } } as never));
    await expectRefused(
      'invalid',
      client().create(policies, { ...wrong, spec: { ...wrong.spec, displayName: 1 } } as never),
    );
    expect(await client().get(policies, 'create-wrong')).toBeUndefined();
  });

  test('create refuses a name that is not a DNS name', async () => {
    await expectRefused('invalid', client().create(policies, samplePolicy('Capital')));
    await expectRefused('invalid', client().create(policies, samplePolicy('under_score')));
    await expectRefused('invalid', client().create(policies, samplePolicy('a'.repeat(254))));
    expect((await client().create(policies, samplePolicy('a'.repeat(253)))).metadata.name).toHaveLength(253);
  });
}

export function testPatch(client: ClientSource): void {
  test('a patch increments the generation only when it changes the spec', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-generation'));
    const labelled = await applyDesired(client(), policies, first, { labels: { team: 'b' } });
    expect(labelled.metadata.generation).toBe(1);
    expect(compareVersions(labelled.metadata.resourceVersion, first.metadata.resourceVersion)).toBe(1);
    const renamed = await rename(client(), labelled, 'New');
    expect(renamed.metadata.generation).toBe(2);
    expect(renamed.spec.displayName).toBe('New');
    expect(renamed.metadata.labels).toEqual({ team: 'b' });
  });

  test('a patch without a change keeps the resource version', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-nothing'));
    const same = await client().patch<GuardrailPolicy>(policies, 'patch-nothing', [
      { op: 'replace', path: '/spec/displayName', value: first.spec.displayName },
    ]);
    expect(same.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('a patch whose test fails changes nothing', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-test'));
    await expectRefused(
      'precondition_failed',
      client().patch(policies, 'patch-test', [
        { op: 'replace', path: '/spec/displayName', value: 'Half' },
        { op: 'test', path: '/metadata/uid', value: 'other-uid' },
      ]),
    );
    expect(await client().get(policies, 'patch-test')).toEqual(first);
  });

  test('a patch that tests a stale resource version fails', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-version'));
    const second = await rename(client(), first, 'Second');
    await expectRefused('precondition_failed', rename(client(), first, 'Third'));
    expect((await rename(client(), second, 'Third')).spec.displayName).toBe('Third');
  });

  test('a patch that tests the generation succeeds after a status write and fails after a spec write', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-by-generation'));
    await writeStatus(client(), first, { observedGeneration: 1 });
    const spec = { ...first.spec, displayName: 'Second' };
    const operations = patchOperations(first, { spec }, 'generation');
    expect((await client().patch<GuardrailPolicy>(policies, 'patch-by-generation', operations)).spec).toEqual(spec);
    await expectRefused('precondition_failed', client().patch(policies, 'patch-by-generation', operations));
  });

  test('one of several concurrent patches of a version succeeds', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('patch-race'));
    const results = await Promise.allSettled(['A', 'B', 'C', 'D'].map((one) => rename(client(), first, one)));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
  });

  test('a patch that violates the schema, removes a missing member or names a missing object fails', async () => {
    await client().create<GuardrailPolicy>(policies, samplePolicy('patch-invalid'));
    await expectRefused(
      'invalid',
      client().patch(policies, 'patch-invalid', [{ op: 'add', path: '/spec/extra', value: 1 }]),
    );
    await expectRefused(
      'precondition_failed',
      client().patch(policies, 'patch-invalid', [{ op: 'remove', path: '/spec/no' }]),
    );
    await expectRefused('not_found', client().patch(policies, 'patch-absent', [{ op: 'remove', path: '/spec' }]));
  });

  test('a patch cannot change the spec of a policy revision or an id that is set', async () => {
    const revision = await client().create(kinds.policyRevision, sampleRevision('patch-revision'));
    await expectRefused(
      'invalid',
      client().patch(kinds.policyRevision, 'patch-revision', [{ op: 'replace', path: '/spec/number', value: 2 }]),
    );
    const id = '01990000-0000-7000-8000-000000000001';
    const labelled = await applyDesired(client(), kinds.policyRevision, revision, { labels: { [idLabel]: id } });
    expect(labelled.metadata.labels).toEqual({ [idLabel]: id });
    for (const value of [id.replace(/1$/, '2'), null]) {
      await expectRefused(
        'invalid',
        applyDesired(client(), kinds.policyRevision, labelled, { labels: { [idLabel]: value } }),
      );
    }
  });
}

export function testPurge(client: ClientSource): void {
  test('the text of a policy revision can be removed once, and no other member with it', async () => {
    const sample = sampleRevision('purged-revision');
    const texts = { displayName: 'secret', description: 'secret', message: 'secret', refusalText: 'secret' };
    const spec = { ...sample.spec, ...texts, author: 'ann' };
    const revision = await client().create<PolicyRevision>(kinds.policyRevision, { ...sample, spec });
    const purged = purgedSpec(revision.spec, '2026-01-02T03:04:05.000Z');
    for (const wrong of [
      { ...purged, number: 2 },
      { ...purged, author: 'bob' },
      { ...purged, description: 'secret' },
      { ...purged, ruleCount: 7 },
    ]) {
      await expectRefused('invalid', applyDesired(client(), kinds.policyRevision, revision, { spec: wrong }));
    }
    const written = await applyDesired(client(), kinds.policyRevision, revision, { spec: purged });
    expect(JSON.stringify(written)).not.toContain('secret');
    const again = { ...purged, purgeTime: '2027-01-02T03:04:05.000Z' };
    for (const back of [spec, again]) {
      await expectRefused('invalid', applyDesired(client(), kinds.policyRevision, written, { spec: back }));
    }
  });
}

export function testStatus(client: ClientSource): void {
  test('a status patch changes the status only, and a patch changes everything else', async () => {
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

  test('a status patch fails when it violates the schema or its preconditions', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('status-schema'));
    await expectRefused('invalid', writeStatus(client(), first, { extra: 1 } as never));
    await writeStatus(client(), first, { observedGeneration: 1 });
    await expectRefused('precondition_failed', writeStatus(client(), first, { observedGeneration: 2 }));
    const absent = { op: 'add', path: '/status', value: {} } as const;
    await expectRefused('not_found', client().patchStatus(policies, 'status-absent', [absent]));
  });
}
