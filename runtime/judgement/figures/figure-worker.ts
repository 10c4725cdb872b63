import { parentPort } from 'node:worker_threads';
import { type FigureTask, runFigureTask } from './figure-task.ts';

/** Entry of a thread: answers each task with its figures, or with null for a refused pattern. */
parentPort?.on('message', (task: FigureTask) => {
  const worked = runFigureTask(task);
  const { set } = worked ?? {};
  const buffers = set === undefined ? [] : [set.next.buffer, set.matched.buffer, set.work.buffer, set.classOf.buffer];
  parentPort?.postMessage(worked ?? null, buffers as ArrayBuffer[]);
});
