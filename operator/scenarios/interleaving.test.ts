import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deleteConfirmed } from '#kube/apply/delete-confirmed';
import { isKubeError } from '#kube/client/kube-error';
import { patchUnguarded } from '#kube/testing/patch-unguarded';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { type ModelPlatform, startModelPlatform } from '../testing/model-platform.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from '../testing/objects.ts';

/** Actions of users and replicas, in any order and without waiting for each other. */
type Act =
  | { readonly kind: 'save_policy'; readonly term: string }
  | { readonly kind: 'apply'; readonly binding: string; readonly revision: number }
  | { readonly kind: 'unguard'; readonly binding: string }
  | { readonly kind: 'switch'; readonly binding: string; readonly state: 'Enabled' | 'Disabled' }
  | { readonly kind: 'scale'; readonly binding: string; readonly replicas: number }
  | { readonly kind: 'delete'; readonly binding: string }
  | { readonly kind: 'replica'; readonly attitude: 'take' | 'pend' | 'reject' }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'restart'; readonly dieAtWrite: number | undefined };

const binding = fc.constantFrom('chat', 'mail');
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constant('save_policy' as const), term: fc.constantFrom('one', 'two', 'three') }),
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('apply' as const), binding, revision: fc.integer({ min: 1, max: 3 }) }),
  },
  fc.record({ kind: fc.constant('unguard' as const), binding }),
  fc.record({
    kind: fc.constant('switch' as const),
    binding,
    state: fc.constantFrom('Enabled' as const, 'Disabled' as const),
  }),
  fc.record({ kind: fc.constant('scale' as const), binding, replicas: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('delete' as const), binding }),
  fc.record({
    kind: fc.constant('replica' as const),
    attitude: fc.constantFrom('take' as const, 'pend' as const, 'reject' as const),
  }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pause' as const), ms: fc.integer({ min: 0, max: 60 }) }) },
  fc.record({
    kind: fc.constant('restart' as const),
    dieAtWrite: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  }),
);

let applications = 0;

async function perform(model: ModelPlatform, one: Act): Promise<void> {
  const { client } = model.platform;
  switch (one.kind) {
    case 'save_policy':
      return edit<GuardrailPolicy>(model, kinds.guardrailPolicy, 'guard', ({ spec }) => ({
        ...spec,
        definition: definitionOf(one.term),
      }));
    case 'apply':
      return editOrCreate(model, one.binding, { guardrail: guardedBy(one.revision) });
    case 'unguard':
      return editOrCreate(model, one.binding, { guardrail: { mode: 'None' } });
    case 'switch':
      return edit<ModelBinding>(model, kinds.modelBinding, one.binding, ({ spec }) => ({
        ...spec,
        model: { ...spec.model, state: one.state },
      }));
    case 'scale':
      return edit<ModelBinding>(model, kinds.modelBinding, one.binding, ({ spec }) => ({
        ...spec,
        replicas: one.replicas,
      }));
    case 'delete': {
      const object = await client.get(kinds.modelBinding, one.binding);
      if (object === undefined) return;
      return deleteConfirmed(client, kinds.modelBinding, object).catch(unlessGone);
    }
    case 'replica':
      model.attitude = one.attitude === 'reject' ? { reject: 'contradicted' } : one.attitude;
      return;
    case 'pause':
      await new Promise((resolve) => setTimeout(resolve, one.ms));
      return;
    case 'restart':
      return model.revive(one.dieAtWrite === undefined ? undefined : { write: one.dieAtWrite, moment: 'after' });
  }
}

async function editOrCreate(model: ModelPlatform, name: string, change: Partial<ModelBinding['spec']>): Promise<void> {
  applications += 1;
  const apply = `token-${applications}`;
  try {
    await model.platform.client.create(kinds.modelBinding, bindingObject(name, { ...change, apply }));
  } catch (error) {
    if (!isKubeError(error, 'already_exists')) throw error;
    await edit<ModelBinding>(model, kinds.modelBinding, name, ({ spec }) => ({ ...spec, ...change, apply }));
  }
}

async function edit<R extends GuardrailPolicy | ModelBinding>(
  model: ModelPlatform,
  kind: (typeof kinds)[keyof typeof kinds],
  name: string,
  change: (object: R) => R['spec'],
): Promise<void> {
  const object = await model.platform.client.get<R>(kind, name);
  if (object === undefined) return;
  const { client } = model.platform;
  const value = change(object);
  const operations = [{ op: 'replace', path: '/spec', value }] as const;
  const losesGuard = 'guardrail' in value && value.guardrail.mode === 'None';
  return (losesGuard ? patchUnguarded(client, name, operations) : client.patch(kind, name, operations))
    .then(() => undefined)
    .catch(unlessGone);
}

/** If the object was deleted first, the edit counts as an edit without an effect. */
function unlessGone(error: unknown): void {
  if (!isKubeError(error, 'not_found')) throw error;
}

test('random edits in random order, with operators killed in between, converge to the state of the last edits', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 14 }), async (acts) => {
      await using model = await startModelPlatform();
      const { client } = model.platform;
      await client.create(kinds.guardrailPolicy, policyObject('guard'));
      for (const one of acts) await perform(model, one);
      // A binding would wait for a revision that was requested but never saved.
      for (const term of ['four', 'five'])
        await perform(model, { kind: 'save_policy', term }).then(() => settledPolicy(model));
      model.attitude = 'take';
      await model.revive();
      await model.settledOrDead();
      expect(model.isDead()).toBe(false);
    }),
    { numRuns: 25, endOnFailure: true },
  );
});

/** Each save is recorded before the next save: otherwise successive edits may collapse into one revision. */
async function settledPolicy(model: ModelPlatform): Promise<void> {
  if (model.isDead()) await model.revive();
  const { until } = await import('#kit/testing/until');
  await until('the policy is recorded', async () => {
    if (model.isDead()) await model.revive();
    const policy = await model.platform.client.get<GuardrailPolicy>(kinds.guardrailPolicy, 'guard');
    return policy?.status?.observedGeneration === policy?.metadata.generation;
  });
}
