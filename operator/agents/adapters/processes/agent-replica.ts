import { rm, writeFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Semaphore } from '#kit/concurrency/semaphore';
import { watchAnswers } from '#kit/process/watch-answers';
import { createBackoff } from '#kit/time/backoff';
import { systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import { notAnswering } from '../../../workloads/ports.ts';
import { type RuntimeProcess, startRuntimeProcess } from '../../../workloads/runtime-process.ts';
import { missingPolicy, type ServedRevision } from '../../missing-policy.ts';
import type { AgentObservation, AgentRequest } from '../../ports.ts';
import { readAgent } from '../../read-agent.ts';

/** This time is longer than the drain of an agent process, 20 s. */
const graceMs = 25_000;
const backoffMs = { firstMs: 200, maxMs: 30_000, resetAfterMs: 60_000 } as const;
/**
 * A process that ends after it was ready is restarted soon, so that its version serves again within 5 s even on a busy
 * machine. The start of the process takes longer than this pause, which limits how often it can end.
 */
const readyBackoffMs = { firstMs: 50, maxMs: 250, resetAfterMs: 60_000 } as const;
/** A version is at rest most of the time: a small young generation saves 20 MiB of each process. */
const nodeOptions: readonly string[] = ['--max-semi-space-size=1'];
/**
 * Intervals between reads of the state; for a starting process the intervals grow only after `starting`. Milliseconds.
 */
const lookMs = { first: 100, longest: 2_000, starting: 15_000 } as const;
/** Delay until policies that are not served yet are checked again, milliseconds. */
const policyMs = 500;
const unobserved: AgentObservation = { state: undefined, card: 'unread', problem: undefined };

type AgentReplicaOptions = {
  readonly request: AgentRequest;
  /** `dataplane/agents/main.ts` of this checkout. */
  readonly file: string;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly bundleFile: string;
  readonly messageFile: string;
  readonly logFile: string;
  /** Limits processes that start at the same time. */
  readonly starts: Semaphore;
  readonly onChange: () => void;
  readonly onStart: (pid: number) => void;
  readonly onEnd: (reason: string) => void;
  /** Called when a read of the state failed because of a fault of this program; such a read counts as no answer. */
  readonly onFault: () => void;
  readonly servedRevision: ServedRevision;
};

/** The process of one version, restarted with a backoff when it ends or does not answer for 10 s. */
export type AgentReplica = {
  readonly observed: AgentObservation;
  /** Drains the process, waits for its exit and removes its files. */
  stop(): Promise<void>;
};

export function startAgentReplica(options: AgentReplicaOptions): AgentReplica {
  const { request, bundleFile, messageFile } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const backoff = createBackoff({ ...backoffMs, now: systemClock.now });
  const readyBackoff = createBackoff({ ...readyBackoffMs, now: systemClock.now });
  let observed = unobserved;
  let child: RuntimeProcess | undefined;

  function change(next: AgentObservation): void {
    const isNews = !isDeepStrictEqual(withoutRuns(observed), withoutRuns(next));
    observed = next;
    if (isNews) options.onChange();
  }

  async function live(): Promise<void> {
    while (!signal.aborted) {
      await untilServed();
      if (signal.aborted) return;
      const reason = await runOnce().catch((error: unknown) => `cannot be started: ${nameOf(error)}`);
      child = undefined;
      if (signal.aborted) return;
      options.onEnd(reason);
      const wasReady = observed.state?.ready === true;
      change({ ...unobserved, problem: { reason: 'ProcessEnded', message: reason } });
      await wait((wasReady ? readyBackoff : backoff).next(), signal);
    }
  }

  /**
   * Waits for the targets: a process reads the targets of its policies at its start, and would never become ready
   * without a target.
   */
  async function untilServed(): Promise<void> {
    while (!signal.aborted) {
      const problem = missingPolicy(request.bundle, options.servedRevision);
      if (problem === undefined) {
        if (observed.problem?.reason === 'PolicyNotServed') change(unobserved);
        return;
      }
      change({ ...unobserved, problem });
      await wait(policyMs, signal);
    }
  }

  /** Runs the process until it ends. @returns the reason of its end */
  async function runOnce(): Promise<string> {
    const started = await begin();
    if (started === undefined) return 'shut down before it started';
    const over = new AbortController();
    void started.ended.then(() => over.abort());
    const either = AbortSignal.any([over.signal, signal]);
    const line = await started.ready;
    const admin = line?.['admin'];
    if (line === undefined || typeof admin !== 'string') {
      started.signal('SIGTERM');
      await started.ended;
      return started.reason();
    }
    const looking = look({ traffic: line.listening, admin }, either);
    const hangs = await watchAnswers(`${admin}/livez`, {
      signal: either,
      onChange: (answers) => change({ ...observed, problem: answers ? undefined : notAnswering }),
    });
    if (hangs) started.signal('SIGKILL');
    await started.ended;
    await looking;
    return hangs ? 'did not answer for 10 s and was killed' : started.reason();
  }

  async function begin(): Promise<RuntimeProcess | undefined> {
    const release = await options.starts.acquire(signal).catch(() => undefined);
    if (release === undefined) return undefined;
    try {
      await rm(messageFile, { force: true });
      await writeFile(bundleFile, JSON.stringify(request.bundle), { mode: 0o600 });
      child = startRuntimeProcess({ ...options, nodeOptions });
      if (child.pid !== undefined) options.onStart(child.pid);
      if (signal.aborted) child.signal('SIGTERM');
      await child.ready;
      return child;
    } finally {
      release();
    }
  }

  async function look(at: { readonly traffic: string; readonly admin: string }, over: AbortSignal): Promise<void> {
    let pause: number = lookMs.first;
    const began = systemClock.now();
    while (!over.aborted) {
      const next = await readAgent(at, request.bundle, observed, over).catch((): undefined => {
        options.onFault();
        return undefined;
      });
      if (next !== undefined && !over.aborted) change({ ...next, problem: undefined, address: at.traffic });
      const isStarting = systemClock.now() - began < lookMs.starting;
      if (next?.state.ready === true) pause = lookMs.longest;
      else if (!isStarting) pause = Math.min(lookMs.longest, pause * 1.3);
      await wait(pause, over);
    }
  }

  const running = live();
  return {
    get observed() {
      return observed;
    },
    async stop() {
      stopping.abort();
      await child?.stop({ graceMs });
      await running;
      for (const file of [messageFile, bundleFile]) await rm(file, { force: true });
    },
  };
}

/** The observation without the number of runs, which changes with every call and which only a deletion reads. */
function withoutRuns({ state, ...observed }: AgentObservation): unknown {
  return { ...observed, state: state === undefined ? undefined : { ...state, runs: 0 } };
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unknown';
}
