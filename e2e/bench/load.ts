import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { root } from '../../hack/check/run-tool.ts';
import type { LoadJob, LoadResult } from './load-client.ts';

export type Load = AsyncDisposable & { readonly run: (job: LoadJob) => Promise<LoadResult> };

/** Starts the client in a separate process, so that its CPU time is not counted as the server's. */
export function startLoadClient(): Load {
  const child = fork(`${root}/e2e/bench/load-client.ts`);
  return {
    async run(job) {
      const answered = once(child, 'message');
      child.send(job);
      const [result] = (await answered) as [LoadResult];
      return result;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

/** CPU time of all threads of a process in microseconds, from the Linux scheduler. */
export function cpuMicroseconds(pid: number): number {
  let nanoseconds = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]);
  }
  return nanoseconds / 1_000;
}

/** One HTTP request as raw bytes, in base64. */
export function requestBytes(path: string, headers: readonly string[], body: Buffer): string {
  const lines = [`POST ${path} HTTP/1.1`, 'host: 127.0.0.1'];
  for (let at = 0; at + 1 < headers.length; at += 2) lines.push(`${headers[at]}: ${headers[at + 1]}`);
  lines.push(`content-length: ${body.length}`, '', '');
  return Buffer.concat([Buffer.from(lines.join('\r\n')), body]).toString('base64');
}
