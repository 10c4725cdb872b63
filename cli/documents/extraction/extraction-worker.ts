import { parentPort } from 'node:worker_threads';
import { extractText } from './extract-text.ts';

// Runs in its own thread with bounds on memory and time: a parser of a foreign format must not end the command.
parentPort?.on('message', async ({ path, bytes }: { readonly path: string; readonly bytes: Uint8Array }) => {
  parentPort?.postMessage(await extractText(path, bytes));
});
