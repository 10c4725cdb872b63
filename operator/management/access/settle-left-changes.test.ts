import { expect, test } from 'vitest';
import { until } from '#kit/testing/until';
import { startSettlingLeft } from './settle-left-changes.ts';

test('unsettled changes of rights are tried again after a failed attempt, and no longer after disposal', async () => {
  let attempts = 0;
  const failures: string[] = [];
  const changes = {
    async settleLeft() {
      attempts += 1;
      if (attempts === 1) throw new Error('the store is away');
    },
  };
  const logger = { warn: (event: string) => failures.push(event) };
  const settling = startSettlingLeft(changes, { everyMs: 1, logger });
  await until('there were more attempts', () => attempts > 2);
  await settling[Symbol.asyncDispose]();
  const ended = attempts;
  await new Promise(setImmediate);
  expect([attempts, failures]).toEqual([ended, ['settling_failed']]);
});
