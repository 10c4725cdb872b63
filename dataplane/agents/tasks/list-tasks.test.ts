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
