import { setTimeout as pause } from 'node:timers/promises';

type LoadOptions<T> = {
  /** Maximum number of calls in flight. */
  readonly workers: number;
  /** Pause of a worker between two calls, in milliseconds. */
  readonly restMs: number;
  /** Makes one call of the load generator; `index` counts all calls from 0. */
  readonly call: (index: number) => Promise<T>;
};

type Load<T> = {
  /** Results up to now. */
  readonly results: readonly T[];
  /** Starts no more calls, waits for the calls in flight, and returns all results. */
  readonly stop: () => Promise<readonly T[]>;
};

/** A steady, bounded load: each worker calls and pauses in a loop until `stop`. */
export function startLoad<T>({ workers, restMs, call }: LoadOptions<T>): Load<T> {
  const results: T[] = [];
  let index = 0;
  let running = true;
  async function work(): Promise<void> {
    while (running) {
      index += 1;
      results.push(await call(index - 1));
      if (running) await pause(restMs);
    }
  }
  const all = Promise.all(Array.from({ length: workers }, work));
  // A call that throws rejects `stop`.
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
