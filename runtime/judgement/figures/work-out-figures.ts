import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Bundle } from '#contracts/bundle';
import { rulesInOrder, type Stage } from '#contracts/policy';
import { foldsOf, isLocal, type LocalRule } from '../../bundle/compile-local-rule.ts';
import { foldedSource } from '../../bundle/local-pass.ts';
import { keyOf } from '../../rules/pattern/cost/pattern-figures.ts';
import type { PatternSource } from '../../rules/pattern/syntax/pattern-tree.ts';
import type { FigureBook, WorkedOut } from './figure-book.ts';
import { type FigureTask, runFigureTask } from './figure-task.ts';

/** Limit of threads: each has its own heap. */
const maxThreads = 4;
/** Starting a thread takes as long as computing the figures of this many patterns. */
const patternsPerThread = 6;

type Task = FigureTask & { readonly key: string; rules: number };

/** Called after each pattern, with the number of judged local rules and the number of all local rules. */
export type OnProgress = (judged: number, rules: number) => void;

/** Computes the figures that a book lacks for the rules of a bundle, on as many threads as there are processors. */
export async function workOutFigures(
  bundle: Bundle,
  book: FigureBook,
  {
    threads: limit = maxThreads,
    onProgress,
  }: { readonly threads?: number | undefined; readonly onProgress: OnProgress },
): Promise<void> {
  const sections = bundle.policies.flatMap(({ request, response }) => [
    { stage: 'request' as const, section: request },
    { stage: 'response' as const, section: response },
  ]);
  const rules = sections.flatMap(({ stage, section }) =>
    rulesInOrder(section)
      .filter(isLocal)
      .map((rule) => ({ rule, stage })),
  );
  const tasks = tasksOf(rules, book);
  let judged = rules.length - tasks.reduce((sum, task) => sum + task.rules, 0);
  function settle(task: Task, worked: WorkedOut | undefined): void {
    if (worked !== undefined) book.add(task.key, worked);
    judged += task.rules;
    onProgress(judged, rules.length);
  }
  const threads = Math.min(availableParallelism(), maxThreads, limit, Math.floor(tasks.length / patternsPerThread));
  const queue = tasks.values();
  if (threads > 1) {
    await Promise.all(Array.from({ length: threads }, () => runThread(queue, settle)));
    return;
  }
  for (const task of queue) {
    settle(task, runFigureTask(task));
    await setImmediate();
  }
}

/**
 * The patterns without figures, without duplicates. A rule with folds has two patterns; it is judged with the pattern
 * for the original text.
 */
function tasksOf(rules: readonly { rule: LocalRule; stage: Stage }[], book: FigureBook): readonly Task[] {
  const tasks = new Map<string, Task>();
  const add = ({ pattern, caseSensitive }: PatternSource, masks: boolean, count: 0 | 1): void => {
    const key = keyOf({ pattern, caseSensitive });
    const before = tasks.get(key);
    const lists = masks || (before?.lists ?? false);
    if (book.has(key, lists)) return;
    tasks.set(key, { pattern, caseSensitive, key, lists, rules: (before?.rules ?? 0) + count });
  };
  for (const { rule, stage } of rules) {
    if (rule.kind !== 'regex') continue;
    const masks = rule.action.type === 'mask' || rule.regex.checksum !== undefined || rule.regex.allow !== undefined;
    add(rule.regex, masks, 1);
    const view = foldsOf(rule, stage);
    const folded = view === undefined ? undefined : foldedSource(rule.regex, view);
    if (folded !== undefined && !('reason' in folded)) add(folded, masks, 0);
  }
  return [...tasks.values()];
}

/** Takes tasks from the queue until it is empty. Rejects if the thread fails. */
async function runThread(
  queue: IterableIterator<Task>,
  settle: (task: Task, worked: WorkedOut | undefined) => void,
): Promise<void> {
  const worker = new Worker(new URL('figure-worker.ts', import.meta.url));
  try {
    for (const task of queue) settle(task, await askWorker(worker, task));
  } finally {
    await worker.terminate();
  }
}

function askWorker(worker: Worker, { pattern, caseSensitive, lists }: FigureTask): Promise<WorkedOut | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<WorkedOut | undefined>();
  const onExit = (): void => reject(new Error('a thread ended before it had worked out the figures of a pattern'));
  worker.once('error', reject);
  worker.once('exit', onExit);
  worker.once('message', (worked: WorkedOut | null) => {
    worker.off('error', reject);
    worker.off('exit', onExit);
    resolve(worked ?? undefined);
  });
  worker.postMessage({ pattern, caseSensitive, lists } satisfies FigureTask);
  return promise;
}
