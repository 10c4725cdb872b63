import { parentPort } from 'node:worker_threads';
import { readJob } from './read-job.ts';

// A thread of the child process: a parser that does not end keeps neither the input nor the end of the process waiting.
parentPort?.on('message', async (line: string) => {
  parentPort?.postMessage(JSON.stringify(await readJob(JSON.parse(line))));
});
