import { createTokenBuckets } from '#kit/concurrency/token-bucket';

export type RunLimits = {
  /** Maximum number of concurrent runs of one caller with one agent. */
  readonly atOnce: number;
  /** Maximum number of runs of one caller with one agent that start in a minute. */
  readonly perMinute: number;
};

type RunAdmission =
  | { readonly kind: 'admitted'; readonly run: AdmittedRun }
  | { readonly kind: 'refused'; readonly retryAfterSeconds: number };

/** One counted run. The first call ends it; later calls have no effect. */
type AdmittedRun = {
  end(): void;
  /** The run continues without its client for at most this time, milliseconds, and counts as running until then. */
  endAfter(ms: number): void;
};

export type RunLimiter = {
  admit(key: string): RunAdmission;
  /** Runs that are counted now. */
  readonly count: number;
};

/** Maximum number of pairs of caller and agent in memory. */
const maxKeys = 50_000;

/**
 * Limits the runs of each caller with each agent. Runs are counted, not connections, so that a client gains nothing by
 * disconnecting. Each replica applies the limits separately.
 */
export function createRunLimiter({ atOnce, perMinute }: RunLimits, now: () => number): RunLimiter {
  const running = new Map<string, number>();
  const buckets = createTokenBuckets({ burst: perMinute, refillMs: 60_000 / perMinute, maxKeys, now });
  let count = 0;

  function release(key: string): void {
    count -= 1;
    const left = (running.get(key) ?? 1) - 1;
    if (left > 0) running.set(key, left);
    else running.delete(key);
  }

  return {
    admit(key) {
      const held = running.get(key) ?? 0;
      if (held >= atOnce) return { kind: 'refused', retryAfterSeconds: 1 };
      if (!buckets.take(key)) return { kind: 'refused', retryAfterSeconds: Math.max(1, Math.ceil(60 / perMinute)) };
      running.set(key, held + 1);
      count += 1;
      let isRunning = true;
      const stop = (): boolean => {
        const before = isRunning;
        isRunning = false;
        return before;
      };
      const run: AdmittedRun = {
        end: () => void (stop() && release(key)),
        endAfter: (ms) => void (stop() && setTimeout(() => release(key), ms).unref()),
      };
      return { kind: 'admitted', run };
    },
    get count() {
      return count;
    },
  };
}
