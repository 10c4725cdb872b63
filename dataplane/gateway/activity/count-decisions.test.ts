import { expect, test } from 'vitest';
import { createDecisionCounts } from './count-decisions.ts';

const start = Date.parse('2026-01-01T12:00:30.000Z');
const at = (minutes: number) => new Date(start + minutes * 60_000).toISOString();

test('decisions are counted by minute, alias and outcome, oldest minute first', () => {
  const counts = createDecisionCounts(() => start + 60_000);
  counts.add({ time: at(0), model: 'a', outcome: 'denied' });
  counts.add({ time: at(1), model: 'a', outcome: 'passed' });
  counts.add({ time: at(0), model: 'a', outcome: 'denied' });
  counts.add({ time: at(0), model: 'b', outcome: 'check_failed' });
  const none = { passed: 0, masked: 0, denied: 0, check_failed: 0 };
  expect(counts.list()).toEqual([
    { ...none, time: '2026-01-01T12:00:00.000Z', model: 'a', denied: 2 },
    { ...none, time: '2026-01-01T12:00:00.000Z', model: 'b', check_failed: 1 },
    { ...none, time: '2026-01-01T12:01:00.000Z', model: 'a', passed: 1 },
  ]);
});

test('a minute is counted until 60 later minutes have begun, and is then dropped', () => {
  let now = start;
  const counts = createDecisionCounts(() => now);
  counts.add({ time: at(0), model: 'a', outcome: 'passed' });
  now = start + 59 * 60_000;
  expect(counts.list()).toHaveLength(1);
  now = start + 60 * 60_000;
  expect(counts.list()).toEqual([]);
});
