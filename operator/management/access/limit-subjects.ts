import { createTokenBuckets } from '#kit/concurrency/token-bucket';

export type SubjectLimiter = {
  /**
   * Whether a subject may send a request now. A request counts once, however often it is checked.
   * @param request the raw headers of the request, which identify it
   */
  admits(subject: string, cost: number, request: readonly string[]): boolean;
};

/** Maximum number of subjects in memory. */
const maxKeys = 50_000;

/** A subject that was idle may send, in one burst, the requests of this many seconds. */
const burstSeconds = 10;

/** Bounds the requests of each subject in this replica: in a minute, and in a burst the share of ten seconds. */
export function createSubjectLimiter(perMinute: number, now: () => number): SubjectLimiter {
  const burst = Math.max(1, (perMinute * burstSeconds) / 60);
  const buckets = createTokenBuckets({ burst, refillMs: 60_000 / perMinute, maxKeys, now });
  const counted = new WeakSet<readonly string[]>();
  return {
    admits(subject, cost, request) {
      if (counted.has(request)) return true;
      if (!buckets.take(subject, Math.min(cost, burst))) return false;
      counted.add(request);
      return true;
    },
  };
}
