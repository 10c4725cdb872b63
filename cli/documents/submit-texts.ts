import { escapeLine, tableOf } from '../output/write.ts';
import type { FileResult, FileState } from './submit-files.ts';

const words: Readonly<Record<FileState, string>> = {
  done: 'searchable',
  unchanged: 'unchanged',
  waiting: 'waiting',
  failed: 'failed',
  unreadable: 'not read',
  skipped: 'skipped',
};

/** The number of files in each state, such as `3 searchable, 1 failed`. */
export function countsOf(results: readonly FileResult[]): string {
  const states = Object.keys(words) as FileState[];
  const counts = states.map((state) => [state, results.filter((one) => one.state === state).length] as const);
  const texts = counts.flatMap(([state, count]) => (count === 0 ? [] : [`${count} ${words[state]}`]));
  return texts.length === 0 ? '0 documents' : texts.join(', ');
}

/** The files that are not searchable, all files with `-o wide`, and the counts. */
export function resultLines(results: readonly FileResult[], isWide: boolean): string {
  const shown = isWide ? results : results.filter(({ state }) => state !== 'done' && state !== 'unchanged');
  const rows = shown.map(({ docId, state, reason, jobId }) => {
    return [docId, words[state], reason ?? '', jobId ?? ''].map(escapeLine);
  });
  const table = rows.length === 0 ? [] : [tableOf([['DOCUMENT', 'STATE', 'REASON', 'JOB'], ...rows])];
  return [...table, `${countsOf(results)}.`].join('\n');
}
