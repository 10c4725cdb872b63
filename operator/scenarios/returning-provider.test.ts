import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import type { Judge } from '../bundles/ports.ts';
import { acceptingJudge } from '../testing/accepting-judge.ts';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { createInstantWorkloads } from '../testing/instant-workloads.ts';
import { askingDefinitionOf, bindingObject } from '../testing/objects.ts';
import {
  createTestPolicy,
  startTestOperator,
  testProviders,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

const providers = `${testProviders}  - { name: spam, kind: detector, endpoint: "http://127.0.0.1:9/check", credential: spam-key }\n`;
const definition = askingDefinitionOf('portal');

test.each([
  { when: 'before its progress deadline', progressDeadlineMs: 600_000 },
  { when: 'after its progress deadline', progressDeadlineMs: 1 },
])(
  'bindings whose provider answers again $when are applied without a command, and one of them retries meanwhile',
  async (row) => {
    let asked = 0;
    let isAway = true;
    const judge: Judge = {
      ...acceptingJudge,
      check: async (bundle, checks, options) => {
        if (options.providers !== 'called') return acceptingJudge.check(bundle, checks, options);
        asked += 1;
        return checks.map(({ name }) => ({
          name,
          decision: isAway ? 'Failed' : 'Pass',
          code: isAway ? 'provider_unavailable' : undefined,
          rules: [],
        }));
      },
    };
    await using platform = await startTestOperator({
      config: { progressDeadlineMs: row.progressDeadlineMs },
      providers,
      overrides: { judge, workloads: createInstantWorkloads('test-1') },
    });
    const replica = await startFakeReplica(platform, 'gateway-1');
    await replica.report('take');
    await createTestPolicy(platform, 'guard', { definition });
    const first = bindingObject('chat');
    await platform.client.create(kinds.modelBinding, first);
    await waitForCondition(platform, 'chat', 'Applied', 'False', 'ProviderUnavailable');
    const others = Array.from({ length: 20 }, (_, index) => `chat-${index}`);
    for (const name of others) {
      const { spec } = bindingObject(name);
      await platform.client.create(kinds.modelBinding, { ...bindingObject(name), spec });
    }
    for (const name of others) await waitForCondition(platform, name, 'Applied', 'False', 'ProviderUnavailable');
    // The number of calls is the first call and at most a few repeated calls with backoff: the 20 further bindings do
    // not call.
    expect(asked).toBeLessThan(10);
    const said = await platform.client.get<ModelBinding>(kinds.modelBinding, 'chat');
    expect(said?.status?.applications).toMatchObject([{ outcome: 'Failed', reason: 'provider_unavailable' }]);
    isAway = false;
    for (const name of ['chat', ...others]) await waitForRoute(platform, name, 'its route is written', () => true);
    await until('the first one is applied', async () => {
      await replica.report('take');
      const binding = await platform.client.get<ModelBinding>(kinds.modelBinding, 'chat');
      const outcomes = binding?.status?.applications?.map(({ outcome }) => outcome) ?? [];
      return outcomes[0] === 'Applied' && outcomes.at(-1) === 'Failed';
    });
    expect(asked).toBeLessThan(15);
  },
);
