import { rm } from 'node:fs/promises';
import type { Semaphore } from '#kit/concurrency/semaphore';
import { createBackoff } from '#kit/time/backoff';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import { becomesReady, type Child, startChild } from './child.ts';
import { terminationReason } from './termination-reason.ts';

/**
 * A process may take this long to end what it has in flight: longer than a runtime drains, and shorter than the operator
 * is given to end itself, so that a frozen process does not outlive it.
 */
const graceMs = 10_000;
const firstRestartMs = 200;
const longestRestartMs = 30_000;
/** After this long without an end the waits begin anew. */
const stableMs = 60_000;

export type ReplicaOptions = {
  readonly executable: string;
  readonly file: string;
  /** The environment of the process but for its address. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly messageFile: string;
  readonly logFile: string;
  /** Where it answered before. */
  readonly address: string | undefined;
  /** Processes that start at the same time. */
  readonly starts: Semaphore;
  readonly onChange: () => void;
  readonly onStart: (pid: number) => void;
  readonly onEnd: (reason: string) => void;
  readonly clock?: Clock;
};

/** One process of a workload, started again whenever it ends. */
export type Replica = {
  /** The origin that it answers at, or answered at last; undefined before the first time. */
  readonly address: string | undefined;
  readonly ready: boolean;
  readonly problem: string | undefined;
  /** Ends the process after what it has in flight. */
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
  /** The port to ask for; 0 takes a free one. */
  let port = portOf(address);
  let ready = false;
  let problem: string | undefined;
  let child: Child | undefined;

  function change(next: { readonly ready: boolean; readonly problem: string | undefined }): void {
    if (next.ready === ready && next.problem === problem) return;
    ready = next.ready;
    problem = next.problem;
    options.onChange();
  }

  async function live(): Promise<void> {
    while (!signal.aborted) {
      const reason = await runOnce();
      if (signal.aborted) return;
      options.onEnd(reason);
      change({ ready: false, problem: reason });
      await wait(backoff.next(), signal);
    }
  }

  /** Runs the process until it ends; returns why it did. */
  async function runOnce(): Promise<string> {
    const started = await begin();
    if (typeof started === 'string') return started;
    const end = await started.ended;
    child = undefined;
    ready = false;
    return terminationReason(end, { message: options.messageFile, log: options.logFile });
  }

  async function begin(): Promise<Child | string> {
    const release = await options.starts.acquire(signal).catch(() => undefined);
    if (release === undefined) return 'told to end';
    try {
      await rm(options.messageFile, { force: true });
      const { executable, file, env, logFile } = options;
      child = startChild({ executable, file, log: logFile, env: { ...env, PORTCULLIS_LISTEN: `127.0.0.1:${port}` } });
      options.onStart(child.pid);
      if (signal.aborted) child.terminate();
      await listens(child);
      return child;
    } catch (error) {
      return `cannot be started: ${error instanceof Error ? error.name : 'unknown'}`;
    } finally {
      release();
    }
  }

  async function listens(started: Child): Promise<void> {
    const origin = await started.listening;
    if (origin === undefined) {
      // The port may be somebody else's by now: the next one is free, and the route is written anew.
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
      const ending = child;
      ending?.terminate();
      const timer = setTimeout(() => ending?.kill(), graceMs);
      await running;
      clearTimeout(timer);
      await rm(options.messageFile, { force: true });
    },
  };
}

function portOf(address: string | undefined): number {
  if (address === undefined) return 0;
  return Number(URL.parse(address)?.port ?? 0);
}
