import { type Clock, systemClock } from '#kit/time/clock';
import { isKubeError } from '../client/kube-error.ts';
import { createLanes, type Priority, type Taken } from './lanes.ts';
import { createTurns, type Turns } from './turns.ts';

export type { Priority } from './lanes.ts';

/** What one pass over a key asks for next. */
export type ProcessResult = { readonly requeueAfterMs?: number };

export type WorkOutcome = 'success' | 'requeue_after' | 'error';

export type WorkQueueOptions = {
  /** Never runs twice at once for one key. A rejection is an error of the key, which is tried again. */
  readonly process: (key: string, signal: AbortSignal) => Promise<ProcessResult | undefined> | Promise<void>;
  /** Keys that are worked on at the same time. */
  readonly concurrency: number;
  /** Learns of every error; `attempt` counts the errors of the key in a row. */
  readonly onError: (key: string, error: unknown, attempt: number) => void;
  /** Learns of every finished pass: seconds in the queue and seconds of work. */
  readonly onDone?: (outcome: WorkOutcome, queuedSeconds: number, workedSeconds: number) => void;
  /** First wait after an error, milliseconds; it doubles with every error in a row. 200 when absent. */
  readonly firstBackoffMs?: number;
  /** Longest wait after an error, milliseconds. 60,000 when absent. */
  readonly maxBackoffMs?: number;
  /** Shared by the queues of one process; of its own where absent. */
  readonly turns?: Turns;
  readonly clock?: Clock;
};

export type WorkQueueCounts = {
  /** Keys that wait for a worker. */
  readonly depth: number;
  /** Keys that are worked on. */
  readonly active: number;
  /** Keys that wait for their time. */
  readonly delayed: number;
  readonly adds: number;
  readonly retries: number;
  readonly outcomes: Readonly<Record<WorkOutcome, number>>;
  /** Seconds of the longest pass that runs now. */
  readonly longestSeconds: number;
  /** Seconds of all passes that run now, together. */
  readonly unfinishedSeconds: number;
};

export type WorkQueue = AsyncDisposable & {
  /** Queues a key once, however often it is added; while it is worked on, it is queued again afterwards. */
  add(key: string, options?: { readonly priority?: Priority }): void;
  /** Queues a key after a time; of several times the earliest counts. */
  addAfter(key: string, ms: number): void;
  /** Resolves as soon as no key waits for a worker or is worked on; keys that wait for their time do not count. */
  idle(): Promise<void>;
  counts(): WorkQueueCounts;
};

type Delay = { readonly at: number; readonly timer: NodeJS.Timeout };

/**
 * A queue of keys with the contract of controller-runtime: one worker per key, no key twice in the queue, success
 * forgets the errors of a key, an error waits longer each time (at least as long as the server asked), a fresh `add`
 * does not wait. Disposing aborts the passes that run and waits for them; afterwards nothing starts.
 */
export function createWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { clock = systemClock, firstBackoffMs = 200, maxBackoffMs = 60_000 } = options;
  const lanes = createLanes();
  const { turns = createTurns({ clock }) } = options;
  const unfollow = turns.follow(start);
  const queuedAt = new Map<string, number>();
  const active = new Map<string, { readonly since: number; again: Priority | undefined }>();
  const delays = new Map<string, Delay>();
  const errors = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const stop = new AbortController();
  const outcomes: Record<WorkOutcome, number> = { success: 0, requeue_after: 0, error: 0 };
  let adds = 0;
  let retries = 0;
  let waiters: (() => void)[] = [];

  function add(key: string, { priority = 'normal' }: { readonly priority?: Priority } = {}): void {
    if (stop.signal.aborted) return;
    cancelDelay(key);
    const work = active.get(key);
    if (work !== undefined) {
      work.again = lanes.higher(work.again, priority);
      return;
    }
    if (!queuedAt.has(key)) {
      adds += 1;
      queuedAt.set(key, clock.now());
    }
    lanes.put(key, priority);
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
      const low = lanes.has('low') && turns.mayBeginLow();
      if (!(low || lanes.has('normal') || lanes.has('high')) || !turns.mayBegin()) return;
      const taken = lanes.take({ low });
      if (taken === undefined) return;
      const queued = queuedAt.get(taken.key) ?? clock.now();
      queuedAt.delete(taken.key);
      const pass = work(taken, queued).finally(() => running.delete(pass));
      running.add(pass);
    }
  }

  async function work({ key, priority }: Taken, queued: number): Promise<void> {
    const since = clock.now();
    active.set(key, { since, again: undefined });
    turns.began(priority);
    const outcome = await attempt(key);
    turns.ended(priority);
    const again = active.get(key)?.again;
    active.delete(key);
    outcomes[outcome] += 1;
    options.onDone?.(outcome, (since - queued) / 1000, (clock.now() - since) / 1000);
    if (again !== undefined) add(key, { priority: again });
    start();
    if (active.size === 0 && lanes.size === 0) release();
  }

  async function attempt(key: string): Promise<WorkOutcome> {
    try {
      const result = await options.process(key, stop.signal);
      errors.delete(key);
      if (result?.requeueAfterMs === undefined) return 'success';
      addAfter(key, result.requeueAfterMs);
      return 'requeue_after';
    } catch (error) {
      if (stop.signal.aborted) return 'error';
      retryLater(key, error);
      return 'error';
    }
  }

  function retryLater(key: string, error: unknown): void {
    const count = (errors.get(key) ?? 0) + 1;
    errors.set(key, count);
    retries += 1;
    const asked = isKubeError(error) ? (error.details.retryAfterMs ?? 0) : 0;
    const step = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(count - 1, 30));
    addAfter(key, Math.max(asked, step));
    options.onError(key, error, count);
  }

  function release(): void {
    const released = waiters;
    waiters = [];
    for (const resolve of released) resolve();
  }

  function counts(): WorkQueueCounts {
    const now = clock.now();
    const seconds = [...active.values()].map((pass) => (now - pass.since) / 1000);
    return {
      depth: lanes.size,
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
      if (active.size === 0 && lanes.size === 0) return Promise.resolve();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.push(resolve);
      return promise;
    },
    counts,
    async [Symbol.asyncDispose]() {
      stop.abort();
      for (const key of [...delays.keys()]) cancelDelay(key);
      lanes.clear();
      unfollow();
      await Promise.all(running);
      release();
    },
  };
}
