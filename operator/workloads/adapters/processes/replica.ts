import { rm } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Semaphore } from '#kit/concurrency/semaphore';
import { watchAnswers } from '#kit/process/watch-answers';
import { createBackoff } from '#kit/time/backoff';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import { notAnswering, type WorkloadProblem } from '../../ports.ts';
import { becomesReady, type RuntimeProcess, startRuntimeProcess } from '../../runtime-process.ts';

/**
 * Time to drain before the process is killed: longer than the drain of a runtime, and shorter than the shutdown of the
 * operator, so that a frozen process does not outlive the operator.
 */
const graceMs = 10_000;
const firstRestartMs = 200;
const longestRestartMs = 30_000;
/** After a process has run for this time, its next restart has no backoff, milliseconds. */
const stableMs = 60_000;

type ReplicaOptions = {
  readonly file: string;
  /** The environment variables of the runtime process, except its listen address. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly messageFile: string;
  readonly logFile: string;
  /** The process's previous address, used again if its port is free. */
  readonly address: string | undefined;
  /** Limits the number of processes that start at the same time. */
  readonly starts: Semaphore;
  readonly onChange: () => void;
  readonly onStart: (pid: number) => void;
  readonly onEnd: (reason: string) => void;
  readonly clock?: Clock;
};

/** One process of a workload, restarted with a backoff when it ends or does not answer for 10 s. */
export type Replica = {
  /** The process's current or last origin; undefined until it was ready for the first time. */
  readonly address: string | undefined;
  readonly ready: boolean;
  readonly problem: WorkloadProblem | undefined;
  /** Drains the process and waits for its exit. */
  stop(): Promise<void>;
};

export function startReplica(options: ReplicaOptions): Replica {
  const { clock = systemClock } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const backoff = createBackoff({
    firstMs: firstRestartMs,
    maxMs: longestRestartMs,
    resetAfterMs: stableMs,
    now: clock.now,
  });
  let address = options.address;
  /** The port to listen on; 0 for any free port. */
  let port = portOf(address);
  let ready = false;
  let problem: WorkloadProblem | undefined;
  let child: RuntimeProcess | undefined;

  function change(next: { readonly ready: boolean; readonly problem: WorkloadProblem | undefined }): void {
    if (next.ready === ready && isDeepStrictEqual(next.problem, problem)) return;
    ready = next.ready;
    problem = next.problem;
    options.onChange();
  }

  async function live(): Promise<void> {
    while (!signal.aborted) {
      const reason = await runOnce();
      if (signal.aborted) return;
      options.onEnd(reason);
      change({ ready: false, problem: { reason: 'ProcessEnded', message: reason } });
      await wait(backoff.next(), signal);
    }
  }

  /** Runs the process until it ends. @returns the reason of its end */
  async function runOnce(): Promise<string> {
    const started = await begin();
    if (typeof started === 'string') return started;
    const hangs = ready && address !== undefined && (await endIfHung(started, address));
    await started.ended;
    child = undefined;
    ready = false;
    return hangs ? 'did not answer for 10 s and was killed' : started.reason();
  }

  /** Watches the process until it ends or shuts down. A hung process is killed, because it cannot shut down. */
  async function endIfHung(started: RuntimeProcess, origin: string): Promise<boolean> {
    const over = new AbortController();
    void started.ended.then(() => over.abort());
    const hangs = await watchAnswers(`${origin}/readyz`, {
      signal: AbortSignal.any([over.signal, signal]),
      onChange: (answers) => change({ ready: answers, problem: answers ? undefined : notAnswering }),
    });
    if (hangs) started.signal('SIGKILL');
    return hangs;
  }

  async function begin(): Promise<RuntimeProcess | string> {
    const release = await options.starts.acquire(signal).catch(() => undefined);
    if (release === undefined) return 'shut down before it started';
    try {
      await rm(options.messageFile, { force: true });
      child = startRuntimeProcess({
        ...options,
        env: { ...options.env, PORTCULLIS_LISTEN: `127.0.0.1:${port}` },
      });
      if (child.pid !== undefined) options.onStart(child.pid);
      if (signal.aborted) child.signal('SIGTERM');
      await listens(child);
      return child;
    } catch (error) {
      return `cannot be started: ${error instanceof Error ? error.name : 'unknown'}`;
    } finally {
      release();
    }
  }

  async function listens(started: RuntimeProcess): Promise<void> {
    const origin = (await started.ready)?.listening;
    if (origin === undefined) {
      // Another process may use the port: the next start takes a free port, and the route is written again.
      port = 0;
      return;
    }
    if (!(await becomesReady(origin, started.ended, signal))) return;
    const moved = address !== origin;
    address = origin;
    port = portOf(origin);
    if (moved && ready) options.onChange();
    change({ ready: true, problem: undefined });
  }

  const running = live();
  return {
    get address() {
      return address;
    },
    get ready() {
      return ready;
    },
    get problem() {
      return problem;
    },
    async stop() {
      stopping.abort();
      await child?.stop({ graceMs });
      await running;
      await rm(options.messageFile, { force: true });
    },
  };
}

function portOf(address: string | undefined): number {
  if (address === undefined) return 0;
  return Number(URL.parse(address)?.port ?? 0);
}
