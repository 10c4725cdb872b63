import { expect, test } from 'vitest';
import { createFakeClock } from '#kit/testing/fake-clock';
import type { StreamEvent } from '../a2a/wire.ts';
import { TaskStore, taskLimits } from './task-store.ts';

const watch = { onUnwatched: () => undefined, onWatched: () => undefined };

function storeOf(limits: Partial<Record<keyof typeof taskLimits, number>> = {}) {
  const store = new TaskStore(createFakeClock(), { ...taskLimits, ...limits });
  const run = (owner = 'ann', text = ''): string => {
    const { id } = store.create(owner, 'context', watch);
    store.addArtifact(id, { artifactId: 'a', name: 'result', parts: [{ text, mediaType: 'text/plain' }] });
    store.setStatus(id, 'TASK_STATE_COMPLETED');
    return id;
  };
  return { store, run };
}

test('ended tasks are kept up to the limit, the oldest are removed first, and tasks in progress stay', () => {
  const { store, run } = storeOf({ kept: 2 });
  const open = store.create('ann', 'context', watch).id;
  const [first, second] = [run(), run()];
  expect(store.list('ann')).toHaveLength(3);
  const third = run();
  expect([open, first, second, third].map((id) => store.get('ann', id) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ]);
});

test('ended tasks are kept up to the limit of bytes', () => {
  const { store, run } = storeOf({ keptBytes: 2_600 });
  const first = run('ann', 'x'.repeat(1_000));
  run('ann', 'x'.repeat(1_000));
  expect(store.get('ann', first)).toBeDefined();
  run('ann', 'x'.repeat(1_000));
  expect(store.get('ann', first)).toBeUndefined();
});

test('a caller with many ended tasks, or with large ones, removes no task of another caller', () => {
  for (const limits of [{ kept: 4 }, { keptBytes: 6_000 }]) {
    const { store, run } = storeOf(limits);
    const [first, second] = [run('bob', 'x'.repeat(200)), run('bob', 'x'.repeat(200))];
    const own = Array.from({ length: 20 }, () => run('ann', 'x'.repeat(1_000)));
    expect([first, second].map((id) => store.get('bob', id) !== undefined)).toEqual([true, true]);
    expect(store.get('ann', String(own.at(-1)))).toBeDefined();
    expect(store.get('ann', String(own.at(0)))).toBeUndefined();
    // This caller has more tasks than the other caller, so that the oldest tasks of this caller are removed.
    for (let count = 0; count < 20; count += 1) run('bob', 'x'.repeat(1_000));
    expect(store.get('bob', first)).toBeUndefined();
    expect(store.list('ann').length).toBeGreaterThan(0);
  }
});

test('a failed task keeps no artifact, and no event follows its final status', () => {
  const { store } = storeOf();
  const { id } = store.create('ann', 'context', watch);
  const seen: StreamEvent[] = [];
  let ends = 0;
  const ended = (): void => {
    ends += 1;
  };
  const leave = store.subscribe('ann', id, { event: (event) => seen.push(event), ended });
  expect(store.subscribe('bob', id, { event: () => undefined, ended })).toBeUndefined();
  store.addArtifact(id, { artifactId: 'a', name: 'result', parts: [{ text: 'x', mediaType: 'text/plain' }] });
  store.setStatus(id, 'TASK_STATE_FAILED');
  store.setStatus(id, 'TASK_STATE_COMPLETED');
  leave?.();
  expect(store.get('ann', id)).not.toHaveProperty('artifacts');
  expect(seen.map((event) => Object.keys(event)[0])).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
  expect(ends).toBe(1);
});

test('a task in progress has at most 16 readers, and a reader that leaves makes room for another one', () => {
  const { store } = storeOf();
  const { id } = store.create('ann', 'context', watch);
  const read = () => store.subscribe('ann', id, { event: () => undefined, ended: () => undefined });
  const leave = Array.from({ length: 16 }, read);
  expect(read).toThrow(expect.objectContaining({ code: 'too_many_runs' }));
  leave[0]?.();
  expect(read()).toBeTypeOf('function');
});
