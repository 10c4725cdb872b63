import { type FSWatcher, watch } from 'node:fs';
import { problemsFile, readApplyProblems } from '../platform/apply-problems.ts';
import type { DataDirectory } from '../platform/data-directory.ts';

/** Says each problem of the watched folder when it appears, for the person who is editing there. */
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
    // A folder that goes away takes its problems with it; `portcullis status` still says what it finds.
    watcher.on('error', () => watcher?.close());
  } catch {
    say(`${data.apply} cannot be watched here: look at "portcullis status" for what was not applied`);
  }
  look();
  return { [Symbol.dispose]: () => watcher?.close() };
}
