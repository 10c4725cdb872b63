import { expect, test } from 'vitest';

import { until } from '#kit/testing/until';
import { repeatLook } from './repeat-look.ts';

test('a failed observation adds the time since the previous one to the count, however long it took, and a successful one adds nothing', async () => {
  let now = 5_000;
  let looks = 0;
  const failed: number[] = [];
  const durations = [10_000, 3_000, 20_000];
  async function look(): Promise<void> {
    const at = looks;
    looks += 1;
    now += durations[at] ?? 0;
    if (at !== 1) throw new Error('the look ends early');
  }
  await using _observing = repeatLook(look, {
    synced: Promise.resolve(),
    clock: { now: () => now },
    logger: { warn: () => undefined },
    faults: { lookFailed: (seconds) => void failed.push(seconds) },
  });
  await until('it has looked three times', async () => looks > 2);
  expect(failed.slice(0, 2)).toEqual([10, 20]);
});
