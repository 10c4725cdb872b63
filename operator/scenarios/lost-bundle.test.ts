import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogger } from '#kit/log/logger';
import { until } from '#kit/testing/until';
import { KubeError } from '#kube/client/kube-error';
import { kinds } from '#resources/kinds';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { createBundleFiles } from '../bundles/adapters/files/bundle-files.ts';
import { startFakeReplica } from '../testing/fake-replica.ts';
import { createInstantWorkloads } from '../testing/instant-workloads.ts';
import { applyFirst, startTestOperator, type TestOperator } from '../testing/start-test-operator.ts';

async function onlyBundle(platform: TestOperator): Promise<{ readonly path: string; readonly bytes: Buffer }> {
  const folder = join(platform.data, 'bundles');
  const [name = ''] = await readdir(folder);
  return { path: join(folder, name), bytes: await readFile(join(folder, name)) };
}

test.concurrent('a removed bundle is built again from its revision', async () => {
  await using platform = await startTestOperator({ overrides: { workloads: createInstantWorkloads('test-1') } });
  await applyFirst(platform, [await startFakeReplica(platform, 'gateway-1')]);
  const { path, bytes } = await onlyBundle(platform);
  await rm(path);
  await until('the bundle exists again', async () => (await readFile(path)).equals(bytes));
});

test.concurrent('a bundle that was removed while no operator ran is built again', async () => {
  const overrides = () => ({ workloads: createInstantWorkloads('test-1') });
  await using platform = await startTestOperator({ overrides: overrides() });
  await applyFirst(platform, [await startFakeReplica(platform, 'gateway-1')]);
  const { path, bytes } = await onlyBundle(platform);
  await platform.stop();
  await rm(path);
  await platform.restart({}, overrides());
  await until('the bundle exists again', async () => (await readFile(path)).equals(bytes));
});

test.concurrent('a removed bundle that the current settings would build differently is not restored, and the condition of the workload names the remedy', async () => {
  await using platform = await startTestOperator({ limits: 'maxMessages: 64\n' });
  await applyFirst(platform, [await startFakeReplica(platform, 'gateway-1')]);
  const { path } = await onlyBundle(platform);
  await platform.stop();
  await rm(path);
  await writeFile(join(platform.data, 'limits.yaml'), 'maxMessages: 63\n');
  await platform.restart();
  const message = await until('the condition reports it', async () => {
    const { items } = await platform.client.list<RuntimeWorkload>(kinds.runtimeWorkload);
    const ready = items[0]?.status?.conditions?.find(({ type }) => type === 'Ready');
    return ready?.reason === 'BundleMissing' ? ready.message : undefined;
  });
  expect(message).toContain('reapply the bindings');
});

test.concurrent('a bundle that no workload names is removed, even if the first sweep fails', async () => {
  const overrides = () => ({ workloads: createInstantWorkloads('test-1') });
  await using platform = await startTestOperator({ overrides: overrides() });
  await platform.stop();
  const folder = join(platform.data, 'bundles');
  await writeFile(join(folder, `${'ab'.repeat(32)}.json`), '{}');
  const bundles = createBundleFiles(folder, createLogger({ service: 'test', level: 'error' }));
  let looks = 0;
  const sweep: typeof bundles.sweep = async (listNeeded) => {
    looks += 1;
    if (looks === 1) throw new KubeError('network', 'no answer');
    await bundles.sweep(listNeeded);
  };
  await platform.restart({}, { ...overrides(), bundles: { ...bundles, sweep } });
  await until('it is gone', async () => (await readdir(folder)).length === 0);
});
