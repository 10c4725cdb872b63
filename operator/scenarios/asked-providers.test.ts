import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import type { Judge } from '../bundles/ports.ts';
import { acceptingJudge } from '../testing/accepting-judge.ts';
import { createInstantWorkloads } from '../testing/instant-workloads.ts';
import { askingDefinitionOf, bindingObject } from '../testing/objects.ts';
import {
  createTestPolicy,
  editBinding,
  startTestOperator,
  testProviders,
  waitForCondition,
  waitForRoute,
} from '../testing/start-test-operator.ts';

const providers = `${testProviders}  - { name: spam, kind: detector, endpoint: "http://127.0.0.1:9/check", credential: spam-key }\n`;
const definition = askingDefinitionOf('portal');

test.concurrent.each([
  { however: 'however long its processes take to start', progressDeadlineMs: 600_000, until: 'Unknown' },
  { however: 'even if the progress deadline passes meanwhile', progressDeadlineMs: 500, until: 'False' },
] as const)('the providers of an application are called once, $however', async (row) => {
  const { progressDeadlineMs } = row;
  let asked = 0;
  let isOpen = false;
  const judge: Judge = {
    ...acceptingJudge,
    check: async (bundle, checks, options) => {
      if (options.providers === 'called') asked += 1;
      return acceptingJudge.check(bundle, checks, options);
    },
  };
  const instant = createInstantWorkloads('test-1');
  let tell: (name: string) => void = () => undefined;
  const workloads = {
    ...instant,
    observe: (name: string) => (isOpen ? instant.observe(name) : { addresses: [], ready: 0, problem: undefined }),
    onChange(listener: (name: string) => void) {
      tell = listener;
      instant.onChange(listener);
    },
  };
  await using platform = await startTestOperator({
    config: { progressDeadlineMs },
    providers,
    overrides: { judge, workloads },
  });
  await createTestPolicy(platform, 'guard', { definition });
  await platform.client.create(kinds.modelBinding, bindingObject('chat'));
  await waitForCondition(platform, 'chat', 'WorkloadReady', row.until);
  for (const upstreamModel of ['a', 'b', 'c']) {
    const { metadata } = await editBinding(platform, 'chat', {
      model: { ...bindingObject('chat').spec.model, upstreamModel },
    });
    await until('the edit is reconciled', async () => {
      const binding = await platform.client.get(kinds.modelBinding, 'chat');
      const status = binding?.status as { readonly observedGeneration?: number } | undefined;
      return status?.observedGeneration === metadata.generation;
    });
  }
  expect(asked).toBe(1);
  isOpen = true;
  for (const name of instant.running.keys()) tell(name);
  await waitForRoute(platform, 'chat', 'the route is written', () => true);
  expect(asked).toBe(1);
  await editBinding(platform, 'chat', { apply: 'again' });
  await waitForRoute(platform, 'chat', 'the revision is applied again', ({ spec }) => spec.token === 'again');
  expect(asked).toBe(2);
});
