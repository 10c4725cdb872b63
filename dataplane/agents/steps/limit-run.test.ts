import { expect, test } from 'vitest';
import { limitRun } from './limit-run.ts';

const budget = { nodes: 10, modelTokens: 200, outputBytes: 3_000 };
const now = 1_700_000_000_000;
const grant = (leftMs: number) => ({ budget, expiresAt: new Date(now + leftMs) });

test('the time of a run is the smaller one of its version and of its grant', () => {
  expect(limitRun({ timeoutMs: 20_000 }, grant(20_001), now)).toEqual({ ...budget, timeoutMs: 20_000 });
  expect(limitRun({ timeoutMs: 20_000 }, grant(19_999), now)).toEqual({ ...budget, timeoutMs: 19_999 });
});

test('a run does not begin with a grant that has ended, and begins with one that lives for a millisecond more', () => {
  expect(limitRun({ timeoutMs: 20_000 }, grant(0), now)).toBeUndefined();
  expect(limitRun({ timeoutMs: 20_000 }, grant(1), now)).toEqual({ ...budget, timeoutMs: 1 });
});

test('a run without a grant has the time of its version', () => {
  expect(limitRun({ timeoutMs: 20_000 }, undefined, now)).toEqual({ timeoutMs: 20_000 });
});
