import { expect, test } from 'vitest';
import { createCallerLimiter } from './limit-callers.ts';

const person = (subject: string) => ({ issuer: 'https://people.example', subject });
const ann = { subject: person('ann'), actors: [] };

/** How many requests are admitted one after the other. */
function countOf(admits: () => boolean): number {
  let count = 0;
  while (admits()) count += 1;
  return count;
}

test('a caller sends the share of ten seconds at once, and then 20 requests for each run of a minute', () => {
  let now = 0;
  const limiter = createCallerLimiter({ perMinute: 60 }, () => now);
  expect(countOf(() => limiter.admits(ann))).toBe(200);
  now += 49;
  expect(limiter.admits(ann)).toBe(false);
  now += 1;
  expect(limiter.admits(ann)).toBe(true);
  now += 60_000;
  expect(countOf(() => limiter.admits(ann))).toBe(200);
  expect(limiter.retryAfterSeconds).toBe(1);
  expect(createCallerLimiter({ perMinute: 1 }, () => now).retryAfterSeconds).toBe(3);
});

test('persons, the agents that call for a person, and runs have bounds of their own', () => {
  const limiter = createCallerLimiter({ perMinute: 1 }, () => 0);
  const through = (subject: string) => ({ ...ann, actors: [person(subject)] });
  for (const caller of [ann, { ...ann, subject: person('bob') }, through('helper'), through('desk')]) {
    expect(countOf(() => limiter.admits(caller))).toBe(3);
  }
  for (const runId of ['one', 'two']) expect(countOf(() => limiter.admitsRun(runId))).toBe(3);
});
