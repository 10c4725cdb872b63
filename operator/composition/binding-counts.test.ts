import { expect, test } from 'vitest';
import { createMetrics } from '#kit/metrics/metrics';
import { until } from '#kit/testing/until';
import { kinds } from '#resources/kinds';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { bindingObject } from '../testing/objects.ts';
import { applyFirst, editBinding, startTestOperator, waitForCondition } from '../testing/start-test-operator.ts';
import { createBindingCounts } from './binding-counts.ts';

const gauge = /^portcullis_operator_bindings\{state="(\w+)",service="operator"\} (\d+)$/gm;

test('a scrape reports the number of bindings in each state, and follows their changes', async () => {
  await using platform = await startTestOperator();
  const counts = async (): Promise<Readonly<Record<string, number>>> => {
    const text = await (await fetch(new URL('/metrics', platform.operator.url))).text();
    return Object.fromEntries([...text.matchAll(gauge)].map(([, state, count]) => [state, Number(count)]));
  };
  const none = { applied: 0, unbound: 0, disabled: 0, pending: 0, failed: 0 };
  expect(await counts()).toEqual(none);
  const replica = await startFakeReplica(platform, 'gateway-1');
  await replica.report('take');
  await applyFirst(platform, [replica]);
  await until('the binding is counted as applied', async () => (await counts())['applied'] === 1);
  expect(await counts()).toEqual({ ...none, applied: 1 });

  await platform.client.create(kinds.modelBinding, bindingObject('second', bindingObject('chat').spec));
  await waitForCondition(platform, 'second', 'Accepted', 'False', 'AliasConflict');
  const { spec } = bindingObject('third');
  await platform.client.create(kinds.modelBinding, { ...bindingObject('third'), spec: { ...spec, gateway: 'nobody' } });
  await until('all are counted', async () => (await counts())['pending'] === 1);
  expect(await counts()).toEqual({ ...none, applied: 1, pending: 1, failed: 1 });

  const unguarded = async () => {
    const text = await (await fetch(new URL('/metrics', platform.operator.url))).text();
    return /^portcullis_operator_bindings_unguarded\{service="operator"\} (\d+)$/m.exec(text)?.[1];
  };
  expect(await unguarded()).toBe('0');
  await editBinding(platform, 'chat', { guardrail: { mode: 'None' }, apply: 'open' });
  await until('the unguarded model is counted', async () => (await unguarded()) === '1');
});

test('a standby reports no binding counts, so that the sum over replicas is correct', async () => {
  const metrics = createMetrics({ service: 'operator' });
  const counts = createBindingCounts(metrics);
  counts.refresh();
  expect(await metrics.exposition()).not.toMatch(/^portcullis_operator_bindings\{/m);
});
