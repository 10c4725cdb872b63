import { readFile } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#kit/time/clock';
import { giveWay, mustGiveWay, startTurn, turnMs } from './turn.ts';

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
    expect(mustGiveWay(turn, turn.since + turnMs - 0.01)).toBe(false);
    expect(mustGiveWay(turn, turn.since + turnMs)).toBe(true);
    const before = turn.since;
    await giveWay(turn);
    expect(turn.since).toBeGreaterThan(before);
  });
});
