// A thread that sends requests to a replica: as fast as it can, or with a pause after each. It reports their times and
// statuses.

import { parentPort, workerData } from 'node:worker_threads';
import { Pool } from 'undici';
import { v7 as uuid } from 'uuid';
import { wait } from '#kit/time/wait';
import type { SentRequest } from './measure-flood.ts';

export type FloodClient = {
  readonly url: string;
  /** Requests at a time. */
  readonly lanes: number;
  readonly pauseMs: number;
  /** The requests to send; each lane repeats one of them. */
  readonly requests: readonly SentRequest[];
};

const { url, lanes, pauseMs, requests } = workerData as FloodClient;
const pool = new Pool(url, { connections: lanes });
const never = new AbortController().signal;
let report = { times: [] as number[], statuses: {} as Record<number, number> };

parentPort?.on('message', () => {
  parentPort?.postMessage(report);
  report = { times: [], statuses: {} };
});

async function sendForEver({ method, path, token, body }: SentRequest): Promise<never> {
  for (;;) {
    const headers = {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': `flood-${uuid()}` }),
    };
    const start = performance.now();
    const answer = await pool.request({ method, path, headers, body: body ?? null });
    await answer.body.dump();
    report.times.push(performance.now() - start);
    report.statuses[answer.statusCode] = (report.statuses[answer.statusCode] ?? 0) + 1;
    if (pauseMs > 0) await wait(pauseMs, never);
  }
}

await Promise.all(
  Array.from({ length: lanes }, (_lane, at) => sendForEver(requests[at % requests.length] as SentRequest)),
);
