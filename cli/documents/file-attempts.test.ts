import { expect, test } from 'vitest';
import { createFileAttempts, type StampedFile } from './file-attempts.ts';

const times = { youngMs: 2_000, firstRetryMs: 1_000, longestRetryMs: 4_000 };
const file: StampedFile = { docId: 'a.md', path: '/a.md', stamp: 's', changedMs: 10_000 };
const done = { docId: 'a.md', state: 'done' } as const;

test('a file is read again if it was read within two seconds of its change, on either side of its clock', () => {
  for (const [readAt, isDue] of [
    [11_999, true],
    [12_000, false],
    [8_001, true],
    [8_000, false],
  ] as const) {
    const attempts = createFileAttempts(times);
    attempts.record(file, done, readAt);
    expect([readAt, attempts.due([file], readAt).length > 0]).toEqual([readAt, isDue]);
  }
});

test('a failed file is retried after pauses that double up to a maximum, and a changed file immediately', () => {
  const attempts = createFileAttempts(times);
  const failed = { ...done, state: 'failed', reason: 'away' } as const;
  let now = 100_000;
  const retries = new Set<string | undefined>();
  for (const pause of [1_000, 2_000, 4_000, 4_000]) {
    attempts.record(file, failed, now);
    expect(attempts.due([file], now + pause - 1)).toEqual([]);
    now += pause;
    retries.add(attempts.due([file], now)[0]?.retry);
  }
  expect(retries.size).toBe(4);
  attempts.record(file, failed, now);
  expect(attempts.due([{ ...file, stamp: 't' }], now)).toEqual([{ ...file, stamp: 't' }]);
});

test('a retry that is waiting keeps its name, so that its job is found again', () => {
  const attempts = createFileAttempts(times);
  attempts.record({ ...file, retry: 'r' }, { ...done, state: 'waiting' }, 100_000);
  expect(attempts.due([file], 100_000)).toEqual([{ ...file, retry: 'r' }]);
});

test('a result is new unless it repeats the previous one for the same content; a retained file is remembered', () => {
  const attempts = createFileAttempts(times);
  expect(attempts.record(file, { ...done, state: 'waiting' }, 0)).toBe(true);
  expect(attempts.record(file, { ...done, state: 'waiting' }, 0)).toBe(false);
  expect(attempts.record(file, done, 0)).toBe(true);
  expect(attempts.record(file, { ...done, state: 'unchanged' }, 0)).toBe(false);
  expect(attempts.record({ ...file, stamp: 't' }, done, 0)).toBe(true);
  attempts.retain((docId) => docId === 'a.md');
  expect(attempts.record({ ...file, stamp: 't' }, done, 0)).toBe(false);
  attempts.retain(() => false);
  expect(attempts.due([file], 0)).toEqual([file]);
});
