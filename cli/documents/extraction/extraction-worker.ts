import { parentPort } from 'node:worker_threads';
import { extractText } from './extract-text.ts';

// Runs in a separate thread with limits on memory and time: a fault in a third-party parser must not end the command.
parentPort?.on('message', async ({ path, bytes }: { readonly path: string; readonly bytes: Uint8Array }) => {
  parentPort?.postMessage(await extractText(path, bytes));
});
