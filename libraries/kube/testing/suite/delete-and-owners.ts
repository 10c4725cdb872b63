import { expect, test } from 'vitest';
import type { GatewayReport } from '#resources/gateway-report';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { applyDesired } from '../../apply/apply.ts';
import { sampleBinding, samplePolicy, sampleReport } from '../sample-resources.ts';
import { type ClientSource, eventually, expectRefused, policies, present, rename } from './resource-calls.ts';

export function testDelete(client: ClientSource): void {
  test('delete removes only the object with the UID and version', async () => {
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('delete-uid'));
    const { uid, resourceVersion } = first.metadata;
    await expectRefused(
      'conflict',
      client().delete(policies, 'delete-uid', { uid: '00000000-0000-4000-8000-000000000000' }),
    );
    const second = await rename(client(), first, 'Second');
    await expectRefused('conflict', client().delete(policies, 'delete-uid', { uid, resourceVersion }));
    expect(await client().get(policies, 'delete-uid')).toEqual(second);
    await client().delete(policies, 'delete-uid', { uid, resourceVersion: second.metadata.resourceVersion });
    expect(await client().get(policies, 'delete-uid')).toBeUndefined();
    await expectRefused('not_found', client().delete(policies, 'delete-uid', { uid }));
  });

  test('an object under deletion is removed with its last finalizer and accepts no new finalizer', async () => {
    const finalizers = [operatorFinalizer, 'portcullis.dev/second'];
    const first = await client().create<GuardrailPolicy>(policies, samplePolicy('delete-finalizers', { finalizers }));
    await client().delete(policies, 'delete-finalizers', { uid: first.metadata.uid });
    const marked = await present(client(), 'delete-finalizers');
    expect(marked.metadata.deletionTimestamp).toMatch(/Z$/);
    expect(marked.metadata.generation).toBe(2);
    await client().delete(policies, 'delete-finalizers', { uid: first.metadata.uid });
    expect(await client().get(policies, 'delete-finalizers')).toEqual(marked);
    await expectRefused(
      'invalid',
      applyDesired(client(), policies, marked, { finalizers: [...finalizers, 'portcullis.dev/third'] }),
    );
    const one = await applyDesired(client(), policies, marked, { finalizers: [operatorFinalizer] });
    expect(await client().get(policies, 'delete-finalizers')).toEqual(one);
    await applyDesired(client(), policies, one, { finalizers: [] });
    expect(await client().get(policies, 'delete-finalizers')).toBeUndefined();
  });

  test('a patch cannot cancel a deletion', async () => {
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

export function testOwners(client: ClientSource): void {
  test('a dependent is removed when its last owner is deleted', async () => {
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
