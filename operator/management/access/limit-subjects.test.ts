import { expect, test } from 'vitest';
import { createSubjectLimiter } from './limit-subjects.ts';

function open(perMinute: number) {
  const time = { now: 0 };
  const limiter = createSubjectLimiter(perMinute, () => time.now);
  return {
    time,
    ask: (subject: string, cost = 1, request: readonly string[] = []) => limiter.admits(subject, cost, request),
  };
}

test('a subject may send the requests of ten seconds in a burst, then one for each refilled token, and other subjects are not affected', () => {
  const { time, ask } = open(60);
  const answers = Array.from({ length: 11 }, () => ask('ann'));
  expect(answers.indexOf(false)).toBe(10);
  expect(ask('bob')).toBe(true);
  time.now = 999;
  expect(ask('ann')).toBe(false);
  time.now = 1_000;
  expect([ask('ann'), ask('ann')]).toEqual([true, false]);
});

test('a request that is checked twice counts once, and a command counts as many requests as it costs', () => {
  const { ask } = open(120);
  const request: readonly string[] = ['a'];
  expect([ask('ann', 10, request), ask('ann', 10, request)]).toEqual([true, true]);
  expect([ask('ann', 10), ask('ann', 10), ask('ann')]).toEqual([true, false, false]);
});

test('a command can always be repeated successfully: it costs at most the burst of a subject', () => {
  const { ask } = open(5);
  expect([ask('ann', 10), ask('ann')]).toEqual([true, false]);
});
