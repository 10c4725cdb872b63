import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { type ModelPlatform, startModelPlatform } from '../testing/model-platform.ts';
import type { Death } from '../testing/mortal-client.ts';
import { bindingObject, policyObject } from '../testing/objects.ts';
import { testProviders, waitForCondition } from '../testing/start-test-operator.ts';

describe('an operator that is killed between any two writes', () => {
  test('an operator killed while a provider is missing, or when it is approved, is replaced with the same end state', async () => {
    const counts = await failAndGoOn();
    for (const [life, writes] of counts.entries()) {
      expect(writes).toBeGreaterThan(3);
      for (let write = 1; write <= writes; write++) {
        for (const moment of ['before', 'after'] as const) {
          const death: Death = { write, moment };
          await failAndGoOn(...(life === 0 ? [death] : [undefined, death])).catch((error: unknown) => {
            throw new Error(`in life ${life}, after the death ${JSON.stringify(death)}: ${String(error)}`, {
              cause: error,
            });
          });
        }
      }
    }
  });
});

/** The missing provider is approved later; returns the writes of both operators. */
async function failAndGoOn(...[first, second]: readonly (Death | undefined)[]): Promise<readonly number[]> {
  const counts: number[] = [];
  await using model = await startModelPlatform(first);
  const { platform } = model;
  const settle = async (): Promise<void> => {
    await model.settledOrDead();
    counts.push(model.writes());
    if (!model.isDead()) return;
    await model.revive();
    await model.settledOrDead();
  };
  const provider = { alias: 'chat', provider: 'later', upstreamModel: 'echo', state: 'Enabled' } as const;
  await platform.client.create(kinds.guardrailPolicy, policyObject('guard'));
  await platform.client.create(kinds.modelBinding, bindingObject('chat', { model: provider }));
  await settle();
  await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProviderUnknown');
  const later = '  - { name: later, kind: model, endpoint: "http://127.0.0.1:9/v1", enabled: true }';
  await writeFile(join(platform.data, 'providers.yaml'), `${testProviders}${later}\n`);
  await model.revive(second);
  await untilApplied(model);
  await settle();
  const { status } = await waitForCondition(platform, 'chat', 'Applied', 'True');
  expect(status?.applications?.map(({ outcome, reason }) => reason ?? outcome)).toEqual([
    'Applied',
    'provider_unknown',
  ]);
  return counts;
}

/** A failed application counts as settled, so that the retry is awaited separately. */
async function untilApplied({ platform, isDead }: ModelPlatform): Promise<void> {
  await until('the binding is applied, or no operator runs', async () => {
    if (isDead()) return true;
    const binding = await platform.client.get<ModelBinding>(kinds.modelBinding, 'chat');
    return binding?.status?.conditions?.some(({ type, status }) => type === 'Applied' && status === 'True');
  });
}
