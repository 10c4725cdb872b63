import { Worker } from 'node:worker_threads';
import { streamLines } from '#kit/process/stream-lines';

/**
 * Entry of a child process: each line of standard input is a job, and for each job one line with its answer is written
 * to standard output (read-job.ts). The process has a limit on its heap, and the parent process kills it after a timeout:
 * a document that exceeds them, or a fault in a third-party parser, must not end the command. A thread reads the
 * documents, so that the process also ends with its input while a document is read.
 */
process.title = 'portcullis-documents';
// Parsers write warnings, which must not be in the answers.
const thread = new Worker(new URL('./extraction-thread.ts', import.meta.url), { stdout: true, stderr: true });
thread.stdout.resume();
thread.stderr.resume();
thread.on('message', (answer: string) => void process.stdout.write(`${answer}\n`));
thread.on('error', () => process.kill(process.pid, 'SIGKILL'));
for await (const line of streamLines(process.stdin)) thread.postMessage(line);
// An exit would wait for the thread.
process.kill(process.pid, 'SIGKILL');
