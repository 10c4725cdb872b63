import { setTimeout as pause } from 'node:timers/promises';

type LoadOptions<T> = {
  /** Calls under way at the same time, at most. */
  readonly workers: number;
  /** Rest of a worker between two calls; bounds the rate. */
  readonly restMs: number;
  /** One call; `turn` counts all calls from 0. */
  readonly call: (turn: number) => Promise<T>;
};

type Load<T> = {
  /** Results so far. */
  readonly results: readonly T[];
  /** Begins no further call, waits for those under way, and returns all results. */
  readonly stop: () => Promise<readonly T[]>;
};

/** A steady, bounded load: each worker calls, rests, and calls again until told to stop. */
export function startLoad<T>({ workers, restMs, call }: LoadOptions<T>): Load<T> {
  const results: T[] = [];
  let turn = 0;
  let running = true;
  async function work(): Promise<void> {
    while (running) {
      turn += 1;
      results.push(await call(turn - 1));
      if (running) await pause(restMs);
    }
  }
  const all = Promise.all(Array.from({ length: workers }, work));
  // A call that throws is found when the load is stopped.
  all.catch(() => {});
  return {
    results,
    stop: async () => {
      running = false;
      await all;
      return results;
    },
  };
}
