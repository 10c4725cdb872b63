import { expect, test } from 'vitest';
import { collectGarbage } from '#kit/testing/collect-garbage';
import { kinds } from '#resources/kinds';
import { type Change, createHistory } from './history.ts';

function change(version: number, bytes = 1): Change {
  const metadata = { name: 'x', uid: 'u', resourceVersion: String(version), generation: 1, creationTimestamp: 't' };
  const object = { kind: kinds.modelBinding, name: 'x', version, metadata, bytes: Buffer.alloc(bytes) };
  return { type: 'MODIFIED', object, previous: undefined };
}

function walk(history: ReturnType<typeof createHistory>, from: number): readonly number[] {
  const seen: number[] = [];
  for (let next = history.after(from); next !== undefined; next = history.after(next.object.version)) {
    seen.push(next.object.version);
  }
  return seen;
}

test('a history returns the changes after any version, even after one between two changes', () => {
  const history = createHistory(10, { maxChanges: 100, maxBytes: 100 });
  for (const version of [12, 13, 20]) history.push(change(version));
  expect(walk(history, 10)).toEqual([12, 13, 20]);
  expect(walk(history, 12)).toEqual([13, 20]);
  expect(walk(history, 15)).toEqual([20]);
  expect(walk(history, 20)).toEqual([]);
  expect(history.base).toBe(10);
});

test('a history drops the oldest changes beyond its maximum number', () => {
  const history = createHistory(0, { maxChanges: 3, maxBytes: 100 });
  for (let version = 1; version <= 3; version += 1) history.push(change(version));
  expect(history.base).toBe(0);
  history.push(change(4));
  expect(history.base).toBe(1);
  for (let version = 5; version <= 5_000; version += 1) history.push(change(version));
  expect(history.base).toBe(4_997);
  expect(walk(history, history.base)).toEqual([4_998, 4_999, 5_000]);
});

test('a history drops the oldest changes beyond its maximum size and keeps the newest', () => {
  const history = createHistory(0, { maxChanges: 100, maxBytes: 10 });
  history.push(change(1, 5));
  history.push(change(2, 5));
  expect(history.base).toBe(0);
  history.push(change(3, 1));
  expect(history.base).toBe(1);
  history.push(change(4, 50));
  expect(history.base).toBe(3);
  expect(walk(history, 3)).toEqual([4]);
});

test('dropped changes of a history can be garbage collected', async () => {
  const history = createHistory(0, { maxChanges: 100, maxBytes: 1_000 });
  const buffers = Array.from({ length: 101 }, (_, index) => {
    const one = change(index + 1);
    history.push(one);
    return new WeakRef(one.object.bytes);
  });
  // A WeakRef that was dereferenced keeps its target until the end of the job.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(buffers.map((one) => one.deref() !== undefined)).toEqual([false, ...Array.from({ length: 100 }, () => true)]);
});
