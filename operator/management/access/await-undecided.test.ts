import { expect, test } from 'vitest';
import { awaitUndecided } from './await-undecided.ts';

/** A clock that advances by one second at each check, and the ids that each check finds; the last ids are repeated. */
function worldOf(...looks: readonly (readonly string[])[]) {
  let looked = 0;
  const clock = { now: () => looked * 1_000, date: () => new Date(0) };
  const store = { undecided: async () => looks[Math.min(looked++, looks.length - 1)] ?? [] };
  return { clock, store, looked: () => looked };
}

test('the wait for undecided commands ends when the commands stored before it have ended, whatever is stored later', async () => {
  const { store, clock, looked } = worldOf(['a', 'b'], ['b', 'c'], ['c', 'd']);
  expect(await awaitUndecided(store, clock)).toBe(true);
  expect(looked()).toBe(3);
});

test('the wait for undecided commands fails if a command is still being executed after 25 s', async () => {
  for (const [looks, hasEnded] of [
    [24, true],
    [25, false],
  ] as const) {
    const { store, clock } = worldOf(...Array.from({ length: looks }, () => ['a']), []);
    expect([looks, await awaitUndecided(store, clock)]).toEqual([looks, hasEnded]);
  }
});
