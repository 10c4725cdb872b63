import { expect, test } from 'vitest';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { appliedHashAnnotation, kinds, operatorFinalizer } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { applyDesired } from '../../apply/apply.ts';
import { type ApplyOptions, applyManifest } from '../../apply/apply-manifest.ts';
import { sampleBinding, samplePolicy } from '../sample-resources.ts';
import { type ClientSource, expectRefused, policies, present } from './resource-calls.ts';

const bindings = kinds.modelBinding;

export function testApply(client: ClientSource): void {
  const apply = (resource: GuardrailPolicy, options?: ApplyOptions) =>
    applyManifest(client(), { kind: policies, resource }, options);

  test('applying a manifest creates, then leaves unchanged, then configures the resource', async () => {
    const wanted = samplePolicy('apply-thrice', { labels: { team: 'a' } });
    const first = await apply(wanted, { token: 'when_changed' });
    expect(first.action).toBe('created');
    expect(first.object.spec).toEqual({ ...wanted.spec, change: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(await apply(wanted, { token: 'when_changed' })).toEqual({ action: 'unchanged', object: first.object });
    const other = { ...wanted, spec: { ...wanted.spec, displayName: 'New' } };
    const third = await apply(other, { token: 'when_changed' });
    expect(third.action).toBe('configured');
    expect(changeOf(third.object)).not.toBe(changeOf(first.object));
    expect(third.object.metadata.generation).toBe(2);
  });

  test('applying a manifest sets a fresh token by default and keeps a token in the manifest', async () => {
    const first = await apply(samplePolicy('apply-fresh'));
    const second = await apply(samplePolicy('apply-fresh'));
    expect(second.action).toBe('configured');
    expect(changeOf(second.object)).not.toBe(changeOf(first.object));
    const given = { ...samplePolicy('apply-fresh'), spec: { ...samplePolicy('apply-fresh').spec, change: 'mine' } };
    expect(changeOf((await apply(given)).object)).toBe('mine');
    expect((await apply(given)).action).toBe('unchanged');
  });

  test('applying a manifest replaces the spec and merges labels and annotations', async () => {
    const full = samplePolicy('apply-merge', { labels: { a: '1', b: '1' }, annotations: { note: 'x' } });
    await apply({ ...full, spec: { ...full.spec, tests: [] } });
    const { object } = await apply(samplePolicy('apply-merge', { labels: { b: '2', c: '2' } }));
    expect(object.metadata.labels).toEqual({ a: '1', b: '2', c: '2' });
    expect(object.metadata.annotations).toEqual({ note: 'x' });
    expect(object.spec).not.toHaveProperty('tests');
  });

  test('a manifest with the same source hash as the resource is not written', async () => {
    const first = await apply(samplePolicy('apply-hash'), { sourceHash: 'one' });
    expect(first.object.metadata.annotations).toEqual({ [appliedHashAnnotation]: 'one' });
    expect((await apply(samplePolicy('apply-hash'), { sourceHash: 'one' })).action).toBe('unchanged');
    const second = await apply(samplePolicy('apply-hash'), { sourceHash: 'two' });
    expect(second.object.metadata.annotations).toEqual({ [appliedHashAnnotation]: 'two' });
  });

  test('concurrent applies of one resource all succeed after retries', async () => {
    await apply(samplePolicy('apply-race'));
    const names = ['A', 'B', 'C', 'D'];
    const spec = (displayName: string) => ({ ...samplePolicy('apply-race').spec, displayName });
    const results = await Promise.all(names.map((one) => apply({ ...samplePolicy('apply-race'), spec: spec(one) })));
    expect(new Set(results.map(({ object }) => object.metadata.generation)).size).toBe(4);
  });

  test('applying to another namespace or to a binding under deletion is refused', async () => {
    await expectRefused('invalid', apply(samplePolicy('apply-elsewhere', { namespace: 'elsewhere' })));
    const finalizers = [operatorFinalizer];
    const first = await client().create(bindings, sampleBinding('apply-deleting', { finalizers }));
    await client().delete(bindings, 'apply-deleting', { uid: first.metadata.uid });
    const binding = { kind: bindings, resource: sampleBinding('apply-deleting') };
    await expectRefused('conflict', applyManifest(client(), binding));
    const marked = await client().get(bindings, 'apply-deleting');
    if (marked !== undefined) await applyDesired(client(), bindings, marked, { finalizers: [] });
  });

  test('applying a policy under deletion requests its restoration with the time of the deletion', async () => {
    const finalizers = [operatorFinalizer];
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('apply-kept', { finalizers }));
    await client().delete(policies, 'apply-kept', { uid: first.metadata.uid });
    const { deletionTimestamp } = (await present(client(), 'apply-kept')).metadata;
    expect((await apply(samplePolicy('apply-kept'))).action).toBe('restored');
    const kept = await present(client(), 'apply-kept');
    expect(kept.metadata.annotations).toMatchObject({ 'portcullis.dev/keep': deletionTimestamp });
    await applyDesired(client(), policies, kept, { finalizers: [] });
  });
}

function changeOf(object: Stored<Resource>): string | undefined {
  return (object.spec as GuardrailPolicy['spec']).change;
}
