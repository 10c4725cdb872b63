import { describe, expect, test } from 'vitest';
import { kinds } from '#crds/kinds';
import { type ModelPlatform, startModelPlatform } from './testing/model-platform.ts';
import type { Death } from './testing/mortal-client.ts';
import { bindingObject, definitionOf, guardedBy, policyObject } from './testing/objects.ts';
import { editBinding } from './testing/start-test-operator.ts';

/** Edits that take the operator through everything that it writes; each waits until it dies or is through. */
const story: readonly ((model: ModelPlatform) => Promise<unknown>)[] = [
  ({ platform }) => platform.client.create(kinds.guardrailPolicy, policyObject('guard')),
  ({ platform }) => platform.client.create(kinds.modelBinding, bindingObject('chat')),
  ({ platform }) => editPolicyNow(platform, 'second'),
  ({ platform }) => editBinding(platform, 'chat', { guardrail: guardedBy(2), apply: 'second' }),
  ({ platform }) => editBinding(platform, 'chat', { guardrail: { mode: 'None' }, apply: 'open' }),
  async ({ platform }) => {
    const binding = await platform.client.get(kinds.modelBinding, 'chat');
    await platform.client.delete(kinds.modelBinding, 'chat', { uid: binding?.metadata.uid ?? '' });
  },
];

async function editPolicyNow(platform: ModelPlatform['platform'], term: string): Promise<void> {
  const definition = definitionOf(term);
  await platform.client.patch(kinds.guardrailPolicy, 'guard', [
    { op: 'replace', path: '/spec/definition', value: definition },
  ]);
}

/** Tells the story to an operator that may die in it; a dead one is followed by one that lives. */
async function tell(model: ModelPlatform): Promise<void> {
  for (const edit of story) {
    await edit(model);
    await model.settledOrDead();
    if (!model.isDead()) continue;
    await model.revive();
    await model.settledOrDead();
  }
}

describe('an operator that is killed between any two writes', () => {
  test('is followed by one that ends where it would have ended', async () => {
    await using whole = await startModelPlatform();
    await tell(whole);
    const writes = whole.writes();
    expect(writes).toBeGreaterThan(20);
    const deaths = Array.from({ length: writes }, (_one, index) => index + 1).flatMap((write): Death[] => [
      { write, moment: 'before' },
      { write, moment: 'after' },
    ]);
    for (const death of deaths) {
      await using model = await startModelPlatform(death);
      await tell(model).catch((error: unknown) => {
        throw new Error(`after the death ${JSON.stringify(death)}: ${String(error)}`, { cause: error });
      });
    }
  }, 600_000);
});
