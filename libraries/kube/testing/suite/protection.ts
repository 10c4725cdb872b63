import { expect, test } from 'vitest';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { applyStatus } from '../../apply/apply.ts';
import { deleteConfirmed } from '../../apply/delete-confirmed.ts';
import type { KubeClient } from '../../client/client.ts';
import { KubeError } from '../../client/kube-error.ts';
import { patchUnguarded } from '../patch-unguarded.ts';
import { sampleBinding } from '../sample-resources.ts';
import { type ClientSource, expectRefused } from './resource-calls.ts';

const bindings = kinds.modelBinding;
const setUnguarded = { op: 'replace', path: '/spec/guardrail', value: { mode: 'None' } } as const;

export function testProtection(client: ClientSource): void {
  async function createGuarded(name: string, annotations?: Record<string, string>): Promise<Stored<ModelBinding>> {
    const binding = sampleBinding(name, annotations === undefined ? {} : { annotations });
    const guardrail = { mode: 'Policy', policyRef: { name: 'protected', revision: 1 } } as const;
    return client().create<ModelBinding>(bindings, { ...binding, spec: { ...binding.spec, guardrail } });
  }

  test('a guardrail is removed only with a confirmation in the same change', async () => {
    for (const [name, annotations] of [
      ['unguard-first', undefined],
      ['unguard-next', { 'portcullis.dev/confirm-unguarded': 'earlier', other: 'kept' }],
    ] as const) {
      await createGuarded(name, annotations);
      await expectRefused('invalid', client().patch(bindings, name, [setUnguarded]));
      const open = await patchUnguarded(client(), name, [setUnguarded]);
      expect(open.spec.guardrail).toEqual({ mode: 'None' });
      if (annotations !== undefined) expect(open.metadata.annotations).toMatchObject({ other: 'kept' });
    }
  });

  test('a guardrail is removed although its binding already has the annotation that confirms it', async () => {
    const { uid, generation } = (await createGuarded('unguard-noted', { other: 'kept' })).metadata;
    const path = '/metadata/annotations/portcullis.dev~1confirm-unguarded';
    const noted = [{ op: 'add', path, value: `${uid}.${generation}` }] as const;
    await client().patch(bindings, 'unguard-noted', noted);
    await expectRefused('invalid', client().patch(bindings, 'unguard-noted', [...noted, setUnguarded]));
    const open = await patchUnguarded(client(), 'unguard-noted', [setUnguarded]);
    expect(open).toMatchObject({
      metadata: { annotations: { other: 'kept', 'portcullis.dev/confirm-unguarded': `${uid}.${generation}` } },
      spec: { guardrail: { mode: 'None' } },
    });
  });

  test('a binding that guards a model protects less only with a confirmation in the same change', async () => {
    const all = { judge: ['all'], unjudged: 'Refuse', streaming: 'Refused' } as const;
    const judgesLess = { ...all, judge: ['toolCalls', 'files'] } as const;
    const { model } = sampleBinding('weaken').spec;
    const weaker = [
      [{ ...all, model: { ...model, alias: 'weaken-renamed' } }, `stop serving the model ${model.alias}`],
      [{ ...all, gateway: 'other' }, `the gateway default would stop serving the model ${model.alias}`],
      [judgesLess, 'not be judged: toolDefinitions, reasoning, names, parameters. To confirm it'],
      [{ unjudged: 'Refuse', streaming: 'Refused' }, 'not be judged: toolCalls, toolDefinitions, reasoning'],
      [{ ...all, unjudged: 'Forward' }, 'text that is not judged would be forwarded'],
      [{ ...all, streaming: 'Allowed' }, 'would be streamed although a longer match'],
      [{ unjudged: 'Forward' }, 'not be judged: toolCalls'],
    ] as const;
    const created = await createGuarded('weaken', undefined);
    const whole = { ...created.spec, ...all };
    const set = (value: object) => [{ op: 'replace', path: '/spec', value } as const];
    const { spec: base } = created;
    await client().patch(bindings, 'weaken', set({ ...whole, gateway: 'not-served-yet' }));
    const idle = await client().patch<ModelBinding>(bindings, 'weaken', set(whole));
    await applyStatus(client(), bindings, idle, { pinned: { generationId: 'one', policyId: 'p', policyRevision: 1 } });
    for (const [members, effect] of weaker) {
      await expect(client().patch(bindings, 'weaken', set({ ...base, ...members }))).rejects.toMatchObject({
        code: 'invalid',
        message: expect.stringContaining(effect),
      });
      const confirmed = await patchUnguarded(client(), 'weaken', set({ ...base, ...members }));
      expect(confirmed.spec).toEqual({ ...base, ...members });
      // Going back to the former alias and gateway ends the present alias, which needs a confirmation; a change to more
      // protection needs no confirmation.
      await patchUnguarded(client(), 'weaken', set({ ...confirmed.spec, model, gateway: base.gateway }));
      await client().patch(bindings, 'weaken', set(whole));
    }
    const spelled = ['files', 'parameters', 'names', 'reasoning', 'toolDefinitions', 'toolCalls'];
    await client().patch(bindings, 'weaken', set({ ...whole, judge: spelled, streaming: 'Strict' }));
  });

  test('a confirmation that an interrupted deletion leaves behind allows no deletion by name, and the deletion is repeated', async () => {
    const created = await createGuarded('delete-killed');
    const pinned = { generationId: 'one', policyId: 'p', policyRevision: 1 };
    const guarding = await applyStatus(client(), bindings, created, { pinned });
    const { uid, generation } = guarding.metadata;
    const path = '/metadata/annotations';
    const value = { 'portcullis.dev/confirm-deletion': `${uid}.${generation}` };
    const left = await client().patch(bindings, 'delete-killed', [{ op: 'add', path, value }]);
    await expectRefused('invalid', client().delete(bindings, 'delete-killed', { uid }));
    const later = [{ op: 'replace', path: '/spec/replicas', value: 2 }] as const;
    const changed = await client().patch<ModelBinding>(bindings, 'delete-killed', later);
    const { resourceVersion } = changed.metadata;
    await expectRefused('invalid', client().delete(bindings, 'delete-killed', { uid, resourceVersion }));
    const old = { uid, resourceVersion: left.metadata.resourceVersion };
    await expectRefused('conflict', client().delete(bindings, 'delete-killed', old));
    await deleteConfirmed(client(), bindings, changed);
    expect(await client().get(bindings, 'delete-killed')).toBeUndefined();
  });

  test('a confirmed deletion is repeated when the status changed meanwhile, and refused when the spec did', async () => {
    for (const part of ['status', 'spec'] as const) {
      const name = `delete-beside-${part}`;
      const created = await createGuarded(name);
      const guarding = await applyStatus(client(), bindings, created, {
        pinned: { generationId: 'one', policyId: 'p', policyRevision: 1 },
      });
      let deletions = 0;
      const racing: Pick<KubeClient, 'get' | 'patch' | 'delete'> = {
        ...client(),
        async delete(...words) {
          deletions += 1;
          if (deletions === 1 && part === 'status') {
            const live = await client().get<ModelBinding>(bindings, name);
            if (live !== undefined)
              await applyStatus(client(), bindings, live, { ...live.status, observedGeneration: 1 });
          }
          if (deletions === 1 && part === 'spec') {
            await client().patch(bindings, name, [{ op: 'replace', path: '/spec/replicas', value: 2 }]);
          }
          return client().delete(...words);
        },
      };
      const deleted = deleteConfirmed(racing, bindings, guarding);
      if (part === 'spec') await expectRefused('conflict', deleted);
      else await deleted;
      const left = await client().get(bindings, name);
      expect([part, deletions, left === undefined]).toEqual(part === 'spec' ? [part, 1, false] : [part, 2, true]);
      expect(left?.metadata.annotations?.['portcullis.dev/confirm-deletion']).toBeUndefined();
    }
  });

  test('a confirmation counts for one change: an exported unguarded binding does not remove a later guardrail', async () => {
    const guarded = await createGuarded('unguard-again');
    const exported = await patchUnguarded(client(), 'unguard-again', [setUnguarded]);
    const { annotations } = exported.metadata;
    await client().patch(bindings, 'unguard-again', [
      { op: 'replace', path: '/spec/guardrail', value: guarded.spec.guardrail },
      { op: 'remove', path: '/metadata/annotations' },
    ]);
    const replayed = [{ op: 'add', path: '/metadata/annotations', value: annotations }, setUnguarded] as const;
    await expectRefused('invalid', client().patch(bindings, 'unguard-again', replayed));
    const again = await client().get<ModelBinding>(bindings, 'unguard-again');
    await client().delete(bindings, 'unguard-again', { uid: again?.metadata.uid ?? '' });
    const created = await createGuarded('unguard-again');
    expect(created.metadata.generation).toBe(guarded.metadata.generation);
    await expectRefused('invalid', client().patch(bindings, 'unguard-again', replayed));
  });

  test('a binding is deleted only with a confirmation while it guards a model', async () => {
    const idle = await createGuarded('delete-idle');
    await client().delete(bindings, 'delete-idle', { uid: idle.metadata.uid });
    const created = await createGuarded('delete-guarding');
    const pinned = { generationId: 'one', policyId: 'p', policyRevision: 1 };
    const guarding = await applyStatus(client(), bindings, created, { pinned });
    const { uid } = guarding.metadata;
    await expectRefused('invalid', client().delete(bindings, 'delete-guarding', { uid }));
    await deleteConfirmed(client(), bindings, guarding);
    expect(await client().get(bindings, 'delete-guarding')).toBeUndefined();
  });

  test('a confirmation of a deletion that failed is removed, unless the user had set it before', async () => {
    const fault = new KubeError('unavailable', 'not now');
    const failing = (): Pick<KubeClient, 'get' | 'patch' | 'delete'> => ({
      ...client(),
      delete: async () => Promise.reject(fault),
    });
    const confirmed = { 'portcullis.dev/confirm-deletion': 'true' };
    for (const [name, annotations] of [
      ['delete-fails', { other: 'kept' }],
      ['delete-own', confirmed],
    ] as const) {
      const created = await createGuarded(name, annotations);
      await expect(deleteConfirmed(failing(), bindings, created)).rejects.toBe(fault);
      expect((await client().get(bindings, name))?.metadata.annotations).toEqual(annotations);
    }
    const lost = await createGuarded('delete-lost');
    let reads = 0;
    const silent = { ...failing(), get: async () => Promise.reject(new KubeError('network', `read ${reads++}`)) };
    await expect(deleteConfirmed(silent, bindings, lost)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('confirm-deletion of ModelBinding delete-lost may be left'),
    });
    expect(reads).toBe(1);
  });
}
