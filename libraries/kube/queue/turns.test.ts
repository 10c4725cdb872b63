import { setImmediate as turn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { until } from '../../../e2e/support/until.ts';
import { createTurns } from './turns.ts';

/** Turns over a clock that stands still until it is moved. */
function turnsAt() {
  let now = 0;
  const turns = createTurns({ clock: { now: () => now, date: () => new Date(now) } });
  const move = (ms: number): void => {
    now += ms;
  };
  return { turns, move };
}

test('a turn of the event loop is left after 5 ms, and the next one is told of', async () => {
  const { turns, move } = turnsAt();
  const told = vi.fn();
  turns.follow(told);
  expect(turns.mayBegin()).toBe(true);
  move(4.9);
  expect(turns.mayBegin()).toBe(true);
  move(0.1);
  expect(turns.mayBegin()).toBe(false);
  await turn();
  expect(told).toHaveBeenCalledTimes(1);
  expect(turns.mayBegin()).toBe(true);
});

test('the lowest lane has the loop for itself while nobody waits', () => {
  const { turns, move } = turnsAt();
  for (let count = 0; count < 24; count += 1) {
    expect(turns.mayBeginLow()).toBe(true);
    turns.began(count % 2 === 0 ? 'low' : 'normal');
    move(1);
  }
});

test('beside a pass that somebody waits for, two of the lowest lane are under way, and a third one is told when it may', async () => {
  const { turns } = turnsAt();
  const told = vi.fn();
  turns.follow(told);
  turns.began('high');
  for (let count = 0; count < 2; count += 1) {
    expect(turns.mayBeginLow()).toBe(true);
    turns.began('low');
  }
  expect(turns.mayBeginLow()).toBe(false);
  turns.ended('low');
  await turn();
  expect(told).toHaveBeenCalledTimes(1);
  expect(turns.mayBeginLow()).toBe(true);
});

test('beside such a pass the lowest lane begins for 2 ms, rests, and is told of the end of its rest', async () => {
  const { turns, move } = turnsAt();
  const told = vi.fn();
  turns.follow(told);
  turns.began('high');
  expect(turns.mayBeginLow()).toBe(true);
  turns.began('low');
  move(1.9);
  expect(turns.mayBeginLow()).toBe(true);
  move(0.1);
  expect(turns.mayBeginLow()).toBe(false);
  move(1);
  expect(turns.mayBeginLow()).toBe(false);
  await until('the rest is over', () => told.mock.calls.length === 1);
  expect(turns.mayBeginLow()).toBe(true);
});

test('a rest is over as soon as nobody waits any more', () => {
  const { turns, move } = turnsAt();
  turns.began('high');
  turns.began('low');
  move(2);
  expect(turns.mayBeginLow()).toBe(false);
  turns.ended('high');
  expect(turns.mayBeginLow()).toBe(true);
});

test('who follows no more is told nothing', async () => {
  const { turns } = turnsAt();
  const told = vi.fn();
  turns.follow(told)();
  turns.mayBegin();
  await turn();
  expect(told).not.toHaveBeenCalled();
});

test('the lowest lane keeps its share until a pass of it has begun', () => {
  const { turns, move } = turnsAt();
  turns.began('high');
  expect(turns.mayBeginLow()).toBe(true);
  move(1_000);
  expect(turns.mayBeginLow()).toBe(true);
  turns.began('low');
  move(2);
  expect(turns.mayBeginLow()).toBe(false);
});

test('who was told first of a turn is told last of the next one', async () => {
  const { turns } = turnsAt();
  const told: string[] = [];
  for (const name of ['a', 'b', 'c']) turns.follow(() => void told.push(name));
  for (let count = 0; count < 3; count += 1) {
    turns.mayBegin();
    await turn();
  }
  expect(told.join('')).toBe('abcbcacab');
});
