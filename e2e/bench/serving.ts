import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bundle } from '#contracts/bundle';
import { digestOf } from '#contracts/canonical';
import { goodHeaders, testServiceToken } from '../../runtime/testing/start-runtime.ts';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { startTestRuntime } from '../support/start-test-runtime.ts';
import { requestBytes } from './load.ts';

type Served = AsyncDisposable & {
  readonly process: RunningProcess;
  readonly port: number;
  /** The prepared request of a check with this body; the baseline receives the same bytes. */
  readonly request: (body: Buffer) => string;
};

/** A runtime in a separate process, as in a deployment. */
export async function serveBenchBundle(bundle: Bundle): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-bench-'));
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(bundle));
  writeFileSync(join(folder, 'token'), `${testServiceToken}\n`);
  const runtime = await startTestRuntime(join(folder, 'bundle.json'), join(folder, 'token'));
  const headers = Object.entries(goodHeaders(bundle, digestOf(bundle))).flatMap(([name, value]) => [
    name,
    String(value),
  ]);
  return {
    process: runtime,
    port: Number(new URL(runtime.url).port),
    request: (body) => requestBytes('/request', headers, body),
    async [Symbol.asyncDispose]() {
      await runtime[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Baseline = AsyncDisposable & { readonly process: RunningProcess; readonly port: number };

/** The echo server that is the baseline of checks. */
export async function serveEcho(): Promise<Baseline> {
  const echo = await startProcess({ file: 'e2e/bench/echo-server.ts', environment: {} });
  return {
    process: echo,
    port: Number(new URL(echo.url).port),
    [Symbol.asyncDispose]: () => echo[Symbol.asyncDispose](),
  };
}
