import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf } from '#contracts/canonical';
import { hasProcessTable, processMemory } from '#kit/testing/process-table';
import { temporaryFolder } from '#kit/testing/temporary-folder';
import { median } from '../support/median.ts';
import type { RunningProcess } from '../support/start-process.ts';
import { startTestRuntime } from '../support/start-test-runtime.ts';
import { fuzzBundle, token } from './fuzz-bundle.ts';
import { sendChanged } from './send-changed.ts';
import { emptyTally, judgedOf, type Tally } from './tally.ts';

type FuzzRun = {
  /** Judged requests before the first memory measurement, and after it. */
  readonly warmUp: number;
  readonly requests: number;
  readonly seed: number;
  readonly say: (progress: string) => void;
};

export type FuzzReport = {
  readonly tally: Tally;
  readonly connections: number;
  /** Whether the runtime process exited, is no longer ready, or logged an error. */
  readonly crashed: boolean;
  /** Resident memory in bytes after the warm-up and at the end; undefined without /proc. */
  readonly memory: { readonly before: number; readonly after: number } | undefined;
};

/**
 * Measures memory between the warm-up and the end; the level is the median of the first tenth of samples, then of the
 * last tenth.
 */
const looks = 100;

/** A runtime process with the bundle of the fuzzer. */
export async function startFuzzedRuntime(folder: string): Promise<{ runtime: RunningProcess; digest: string }> {
  const bundle = fuzzBundle();
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle));
  writeFileSync(join(folder, 'token'), `${token}\n`);
  const runtime = await startTestRuntime(join(folder, 'bundle.json'), join(folder, 'token'));
  return { runtime, digest: digestOf(bundle) };
}

/** Sends mutated requests to one runtime process and judges every answer. */
export async function runFuzz({ warmUp, requests, seed, say }: FuzzRun): Promise<FuzzReport> {
  using folder = temporaryFolder();
  const { runtime, digest } = await startFuzzedRuntime(folder.path);
  await using _ = runtime;
  const tally = emptyTally();
  const memory: number[] = [];
  let said = 0;

  function goesOn(connections: number): boolean {
    const done = judgedOf(tally);
    if (hasProcessTable && done >= warmUp + (memory.length * requests) / looks)
      memory.push(processMemory(runtime.pid).resident);
    if (done - said >= 100_000) {
      said = done;
      const resident = hasProcessTable ? `, ${mebibytes(processMemory(runtime.pid).resident)} resident` : '';
      say(`${done} requests on ${connections} connections, ${tally.examples.length} findings${resident}`);
    }
    return !runtime.hasEnded();
  }

  const port = Number(new URL(runtime.url).port);
  const connections = await sendChanged({ port, digest, seed, requests: warmUp + requests, tally, goesOn });
  const tenth = looks / 10;
  const levels = { before: median(memory.slice(0, tenth)), after: median(memory.slice(-tenth)) };
  return { tally, connections, crashed: await hasCrashed(runtime), memory: hasProcessTable ? levels : undefined };
}

export function mebibytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(0)} MiB`;
}

/** Whether the runtime process exited, is no longer ready, or logged an error. */
export async function hasCrashed(runtime: RunningProcess): Promise<boolean> {
  if (runtime.hasEnded() || /"level":"(?:error|fatal)"|request_failed/.test(runtime.log())) return true;
  return fetch(`${runtime.url}/readyz`).then(
    ({ status }) => status !== 200,
    () => true,
  );
}
