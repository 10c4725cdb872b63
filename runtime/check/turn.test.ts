import { readFile } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import { systemClock } from '#kit/time/clock';
import { giveWay, isOver, look, mustGiveWay, startTurn, turnMs } from './turn.ts';

describe('a check that gives way', () => {
  test('lets a timer that is due go first, also where it began while something was read', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      // A check begins in the callback of a read: its body arrived.
      readFile(import.meta.filename, async () => {
        const turn = startTurn(systemClock, Number.POSITIVE_INFINITY);
        setTimeout(() => order.push('timer'), 1);
        while (systemClock.now() - turn.since < 5);
        await giveWay(turn);
        order.push('next pass');
        resolve();
      });
    });
    expect(order).toEqual(['timer', 'next pass']);
  });

  test('has a new turn afterwards', async () => {
    const turn = startTurn(systemClock, Number.POSITIVE_INFINITY);
    expect(mustGiveWay({ ...turn, now: turn.since + turnMs - 0.01 })).toBe(false);
    expect(mustGiveWay({ ...turn, now: turn.since + turnMs })).toBe(true);
    const before = turn.since;
    await giveWay(turn);
    expect(turn.since).toBeGreaterThan(before);
  });

  test('is over at its deadline, by the last reading of the clock', () => {
    const clock = createFakeClock();
    const turn = startTurn(clock, clock.now() + 10);
    clock.advance(10);
    expect(isOver(turn)).toBe(false);
    look(turn);
    expect(isOver(turn)).toBe(true);
    expect(isOver({ ...turn, now: turn.deadline - 0.01 })).toBe(false);
  });
});
