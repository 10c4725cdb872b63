import { expect, test } from 'vitest';
import { limitRun } from './limit-run.ts';

const budget = { nodes: 10, modelTokens: 200, outputBytes: 3_000 };
const now = 1_700_000_000_000;
const grant = (leftMs: number) => ({ budget, expiresAt: new Date(now + leftMs) });

test('a run has the smaller time limit of its version and its grant', () => {
  expect(limitRun({ timeoutMs: 20_000 }, grant(20_001), now)).toEqual({ ...budget, timeoutMs: 20_000 });
  expect(limitRun({ timeoutMs: 20_000 }, grant(19_999), now)).toEqual({ ...budget, timeoutMs: 19_999 });
});

test('a run with an expired grant does not begin, and a run whose grant has a millisecond left begins', () => {
  expect(limitRun({ timeoutMs: 20_000 }, grant(0), now)).toBeUndefined();
  expect(limitRun({ timeoutMs: 20_000 }, grant(1), now)).toEqual({ ...budget, timeoutMs: 1 });
});

test('a run without a grant has the time limit of its version', () => {
  expect(limitRun({ timeoutMs: 20_000 }, undefined, now)).toEqual({ timeoutMs: 20_000 });
});
