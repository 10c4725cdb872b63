import { expect, test } from 'vitest';
import type { Task } from '../a2a/wire.ts';
import { listTasks } from './list-tasks.ts';

/** An ended task whose JSON has this many bytes. */
function taskOf(at: number, bytes: number): Task {
  const task = (text: string): Task => ({
    id: `01890a5d-ac96-774b-bcce-b3020000000${at}`,
    contextId: 'c',
    status: { state: 'TASK_STATE_COMPLETED', timestamp: `2026-01-0${9 - at}T00:00:00.000Z` },
    artifacts: [{ artifactId: 'a', name: 'result', parts: [{ text, mediaType: 'text/plain' }] }],
  });
  return task('x'.repeat(bytes - JSON.stringify(task('')).length));
}

/** The numbers of tasks on each page. */
function pagesOf(tasks: readonly Task[], query: Readonly<Record<string, string>>): readonly number[] {
  const pages: number[] = [];
  for (let pageToken = ''; pages.length === 0 || pageToken !== ''; ) {
    const page = listTasks(tasks, new URLSearchParams({ ...query, pageToken }));
    pages.push(page.tasks.length);
    pageToken = page.nextPageToken;
  }
  return pages;
}

test('a page of tasks with their artifacts ends before 4 MiB, and has at least one task', () => {
  const quarter = 1_048_576;
  const tasks = [0, 1, 2, 3, 4].map((at) => taskOf(at, quarter));
  expect(pagesOf(tasks, { includeArtifacts: 'true' })).toEqual([4, 1]);
  const [, ...rest] = tasks;
  expect(pagesOf([taskOf(0, quarter + 1), ...rest], { includeArtifacts: 'true' })).toEqual([3, 2]);
  expect(pagesOf([taskOf(0, 5 * quarter), ...rest], { includeArtifacts: 'true' })).toEqual([1, 4]);
  expect(pagesOf(tasks, { includeArtifacts: 'true', pageSize: '2' })).toEqual([2, 2, 1]);
  expect(pagesOf(tasks, {})).toEqual([5]);
  expect(pagesOf([], { includeArtifacts: 'true' })).toEqual([0]);
});

test('a list of tasks after a time has the tasks of the same millisecond, and no task before a fraction of it', () => {
  const tasks = [taskOf(1, 1_000), taskOf(2, 1_000)];
  // The second task has the earlier time: 2026-01-07T00:00:00.000Z.
  const after = (statusTimestampAfter: string) => pagesOf(tasks, { statusTimestampAfter });
  expect(after('2026-01-07T00:00:00.000Z')).toEqual([2]);
  expect(after('2026-01-07T00:00:00.000000Z')).toEqual([2]);
  expect(after('2026-01-06T23:59:59.9991Z')).toEqual([2]);
  expect(after('2026-01-07T00:00:00.0000001Z')).toEqual([1]);
  expect(after('2026-01-07T00:00:00.001Z')).toEqual([1]);
});

test('a list of tasks accepts the version of the protocol as a parameter and refuses another version', () => {
  expect(pagesOf([taskOf(1, 1_000)], { 'A2A-Version': '1.0' })).toEqual([1]);
  expect(() => pagesOf([taskOf(1, 1_000)], { 'A2A-Version': '0.3' })).toThrow();
});
