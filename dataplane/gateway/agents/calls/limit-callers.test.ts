import { expect, test } from 'vitest';
import { createCallerLimiter } from './limit-callers.ts';

const person = (subject: string) => ({ issuer: 'https://people.example', subject });
const ann = { subject: person('ann'), actors: [] };

/** How many requests in a row are admitted. */
function countOf(admits: () => boolean): number {
  let count = 0;
  while (admits()) count += 1;
  return count;
}

test('a caller may send the requests of two seconds in a burst, and then 20 requests for each run of a minute', () => {
  let now = 0;
  const limiter = createCallerLimiter({ perMinute: 6_000 }, () => now);
  expect(countOf(() => limiter.admits(ann))).toBe(4_000);
  now += 1;
  expect(countOf(() => limiter.admits(ann))).toBe(2);
  now += 60_000;
  expect(countOf(() => limiter.admits(ann))).toBe(4_000);
});

test.each([
  [1, 400],
  [600, 400],
  [603, 402],
])('a caller of agents with %i runs in a minute may send %i requests in a burst', (perMinute, atOnce) => {
  let now = 0;
  const limiter = createCallerLimiter({ perMinute }, () => now);
  expect(countOf(() => limiter.admits(ann))).toBe(atOnce);
  now += 4.9;
  expect(limiter.admits(ann)).toBe(false);
  now += 0.1;
  expect(limiter.admits(ann)).toBe(true);
});

test('persons and the agents that call for a person have separate rate limits', () => {
  const limiter = createCallerLimiter({ perMinute: 1 }, () => 0);
  const through = (subject: string) => ({ ...ann, actors: [person(subject)] });
  for (const caller of [ann, { ...ann, subject: person('bob') }, through('helper'), through('desk')]) {
    expect(countOf(() => limiter.admits(caller))).toBe(400);
  }
});

test('a run may request 1,000 tokens in a second, and all runs of one person with one agent 2,000, with any setting', () => {
  let now = 0;
  const limiter = createCallerLimiter({ perMinute: 1 }, () => now);
  const left = (runId: string, subject = 'ann', agentId = 'question') =>
    countOf(() => limiter.admitsTrade({ runId, agentId, subject: person(subject) }));
  expect([left('one'), left('two'), left('three')]).toEqual([1_000, 1_000, 0]);
  expect([left('four', 'bob'), left('five', 'ann', 'other')]).toEqual([1_000, 1_000]);
  now += 100;
  expect([left('one'), left('two'), left('six')]).toEqual([100, 100, 0]);
});
