// A thread that sends small requests to an address, one every few milliseconds, and reports their times.

import { parentPort, workerData } from 'node:worker_threads';
import { request } from 'undici';
import { wait } from '#kit/time/wait';

const { url } = workerData as { readonly url: string };
const pauseMs = 3;
const never = new AbortController().signal;
let times: number[] = [];

parentPort?.on('message', () => {
  parentPort?.postMessage(times);
  times = [];
});

for (;;) {
  const start = performance.now();
  const { body } = await request(url);
  await body.dump();
  times.push(performance.now() - start);
  await wait(pauseMs, never);
}
