import { type FSWatcher, watch } from 'node:fs';
import type { DataDirectory } from '#contracts/data-directory';
import { problemsFile, readApplyProblems } from '../platform/apply-problems.ts';

/** Prints each new problem of a file in the watched folder. */
export function watchApplyProblems(data: DataDirectory, say: (sentence: string) => void): Disposable {
  let known = new Set<string>();
  let watcher: FSWatcher | undefined;

  function look(): void {
    const problems = readApplyProblems(data);
    for (const problem of problems) if (!known.has(problem)) say(`not applied: ${problem}`);
    known = new Set(problems);
  }

  try {
    watcher = watch(data.apply, (_, name) => {
      if (name === null || name === problemsFile) look();
    });
    // Even after the folder was removed, `portcullis status` still reports its problems.
    watcher.on('error', () => watcher?.close());
  } catch {
    say(`${data.apply} cannot be watched on this system: see "portcullis status" for files that were not applied`);
  }
  look();
  return { [Symbol.dispose]: () => watcher?.close() };
}
