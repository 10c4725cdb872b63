import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { systemClock } from '#kit/time/clock';
import { startTestOperator } from '../testing/start-test-operator.ts';

test('an operator whose watches receive nothing is not ready until they receive events again', async () => {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  await using platform = await startTestOperator({ overrides: { clock } });
  const ready = async () => {
    const answer = await fetch(new URL('/readyz', platform.operator.url));
    return { code: answer.status, ...((await answer.json()) as object) };
  };
  expect(await ready()).toEqual({ code: 200, status: 'ready' });
  ahead = 45_000;
  expect((await ready()).code).toBe(200);
  // Simulates a server that has sent nothing for this time.
  ahead = 120_000;
  expect(await ready()).toEqual({
    code: 503,
    status: 'not ready',
    problems: ['a watch has not received data for too long'],
  });
  expect((await fetch(new URL('/livez', platform.operator.url))).status).toBe(200);
  // The server ends each watch, and the operator starts it again.
  await until('the operator is ready again', async () => (await ready()).code === 200, { everyMs: 250 });
});
