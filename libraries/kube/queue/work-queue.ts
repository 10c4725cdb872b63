import { type Clock, systemClock } from '#kit/time/clock';
import { isKubeError } from '../client/kube-error.ts';
import { createPassScheduler, type PassScheduler } from './pass-scheduler.ts';
import { createPriorityQueue, higherPriority, type PrioritizedKey, type Priority } from './priority-queue.ts';

export type { Priority } from './priority-queue.ts';

/** The result of a successful pass; `requeueAfterMs` requests another pass after that time. */
type ProcessResult = { readonly requeueAfterMs?: number };

type WorkOutcome = 'success' | 'requeue_after' | 'error';

export type WorkQueueOptions = {
  /** Makes one pass over a key; passes over one key never overlap. A rejected pass is retried with backoff. */
  readonly process: (key: string, signal: AbortSignal) => Promise<ProcessResult | undefined> | Promise<void>;
  /** Maximum number of passes that run at the same time. */
  readonly concurrency: number;
  /** Called for every failed pass; `attempt` counts consecutive failures of the key. */
  readonly onError: (key: string, error: unknown, attempt: number) => void;
  /** Called for every finished pass with its seconds in the queue and its seconds of work. */
  readonly onDone?: (outcome: WorkOutcome, queuedSeconds: number, workedSeconds: number) => void;
  /** First backoff after a failure, milliseconds; it doubles with every consecutive failure. 200 when absent. */
  readonly firstBackoffMs?: number;
  /** Longest backoff, milliseconds. 60,000 when absent. */
  readonly maxBackoffMs?: number;
  /** The scheduler that the queues of one process share; when absent, the queue creates its own. */
  readonly scheduler?: PassScheduler;
  readonly clock?: Clock;
};

export type WorkQueueCounts = {
  /** Keys that are ready for a pass. */
  readonly depth: number;
  /** Keys with a running pass. */
  readonly active: number;
  /** Keys that are queued after a delay or backoff. */
  readonly delayed: number;
  readonly adds: number;
  readonly retries: number;
  readonly outcomes: Readonly<Record<WorkOutcome, number>>;
  /** Seconds for which the longest running pass has run up to now. */
  readonly longestSeconds: number;
  /** Sum of the seconds for which all running passes have run up to now. */
  readonly unfinishedSeconds: number;
};

export type WorkQueue = AsyncDisposable & {
  /** Queues a key once, however often it is added; a key that is added during its pass is queued after that pass. */
  add(key: string, options?: { readonly priority?: Priority }): void;
  /** Queues a key after a delay; the earliest of several delays applies. */
  addAfter(key: string, ms: number): void;
  /** Resolves when no key is queued and no pass runs; delayed keys do not count. */
  idle(): Promise<void>;
  counts(): WorkQueueCounts;
};

type Delay = { readonly at: number; readonly timer: NodeJS.Timeout };

/**
 * A queue of keys that behaves like the work queue of controller-runtime: a key is queued once and has one pass at a
 * time; failures back off, at least for the server's Retry-After, until a pass succeeds; `add` skips the backoff.
 * Disposing aborts the running passes and waits for them; no pass starts afterwards.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock = systemClock, firstBackoffMs = 200, maxBackoffMs = 60_000 } = options;
  const ready = createPriorityQueue();
  const { scheduler = createPassScheduler({ clock }) } = options;
  const stopListening = scheduler.listen(start);
  const queuedAt = new Map<string, number>();
  const active = new Map<string, { readonly since: number; again: Priority | undefined }>();
  const delays = new Map<string, Delay>();
  const failures = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  const outcomes: Record<WorkOutcome, number> = { success: 0, requeue_after: 0, error: 0 };
  let adds = 0;
  let retries = 0;
  const idleWaiters: (() => void)[] = [];

  function add(key: string, { priority = 'normal' }: { readonly priority?: Priority } = {}): void {
    if (stop.signal.aborted) return;
    cancelDelay(key);
    const pass = active.get(key);
    if (pass !== undefined) {
      pass.again = higherPriority(pass.again, priority);
      return;
    }
    if (!queuedAt.has(key)) {
      adds += 1;
      queuedAt.set(key, clock.now());
    }
    ready.put(key, priority);
    start();
  }

  function addAfter(key: string, ms: number): void {
    if (stop.signal.aborted || queuedAt.has(key)) return;
    const at = clock.now() + ms;
    const held = delays.get(key);
    if (held !== undefined && held.at <= at) return;
    cancelDelay(key);
    const timer = setTimeout(() => {
      delays.delete(key);
      add(key);
    }, ms);
    delays.set(key, { at, timer });
  }

  function cancelDelay(key: string): void {
    clearTimeout(delays.get(key)?.timer);
    delays.delete(key);
  }

  function start(): void {
    while (active.size < options.concurrency) {
      const low = ready.has('low') && scheduler.mayBeginLow();
      if (!(low || ready.has('normal') || ready.has('high')) || !scheduler.mayBegin()) return;
      const next = ready.take({ low });
      if (next === undefined) return;
      const queued = queuedAt.get(next.key) ?? clock.now();
      queuedAt.delete(next.key);
      const pass = work(next, queued).finally(() => running.delete(pass));
      running.add(pass);
    }
  }

  async function work({ key, priority }: PrioritizedKey, queued: number): Promise<void> {
    const since = clock.now();
    active.set(key, { since, again: undefined });
    scheduler.began(priority);
    const outcome = await attempt(key);
    scheduler.ended(priority);
    const again = active.get(key)?.again;
    active.delete(key);
    outcomes[outcome] += 1;
    options.onDone?.(outcome, (since - queued) / 1000, (clock.now() - since) / 1000);
    if (again !== undefined) add(key, { priority: again });
    start();
    if (isIdle()) resolveIdle();
  }

  async function attempt(key: string): Promise<WorkOutcome> {
    try {
      const result = await options.process(key, stop.signal);
      failures.delete(key);
      if (result?.requeueAfterMs === undefined) return 'success';
      addAfter(key, result.requeueAfterMs);
      return 'requeue_after';
    } catch (error) {
      if (stop.signal.aborted) return 'error';
      backOff(key, error);
      return 'error';
    }
  }

  function backOff(key: string, error: unknown): void {
    const count = (failures.get(key) ?? 0) + 1;
    failures.set(key, count);
    retries += 1;
    const retryAfterMs = isKubeError(error) ? (error.details.retryAfterMs ?? 0) : 0;
    const backoffMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(count - 1, 30));
    addAfter(key, Math.max(retryAfterMs, backoffMs));
    options.onError(key, error, count);
  }

  function isIdle(): boolean {
    return active.size === 0 && ready.size === 0;
  }

  function resolveIdle(): void {
    for (const resolve of idleWaiters.splice(0)) resolve();
  }

  function counts(): WorkQueueCounts {
    const now = clock.now();
    const seconds = [...active.values()].map((pass) => (now - pass.since) / 1000);
    return {
      depth: ready.size,
      active: active.size,
      delayed: delays.size,
      adds,
      retries,
      outcomes: { ...outcomes },
      longestSeconds: Math.max(0, ...seconds),
      unfinishedSeconds: seconds.reduce((sum, one) => sum + one, 0),
    };
  }

  return {
    add,
    addAfter,
    idle() {
      if (isIdle()) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      idleWaiters.push(resolve);
      return promise;
    },
    counts,
    async [Symbol.asyncDispose]() {
      stop.abort();
      for (const key of [...delays.keys()]) cancelDelay(key);
      ready.clear();
      stopListening();
      await Promise.all(running);
      resolveIdle();
    },
  };
}
