import { createTokenBuckets } from '#kit/concurrency/token-bucket';
import type { AgentCaller } from './identify-caller.ts';
import type { RunLimits } from './limit-runs.ts';

export type CallerLimiter = {
  /** Whether a request of this caller may be answered now, for any agent. */
  admits(caller: Pick<AgentCaller, 'subject' | 'actors'>): boolean;
  /** Whether this run may ask for a token now. */
  admitsRun(runId: string): boolean;
  /** Seconds after which a refused caller or run has its next request. */
  readonly retryAfterSeconds: number;
};

/** Requests of any kind for each run that a caller may start: reads of its tasks, and tokens of a run. */
const requestsPerRun = 20;
/** Seconds in which a caller that has sent nothing may use its share of a minute at once. */
const burstSeconds = 10;
/** Most callers, and most runs, in memory. */
const maxKeys = 50_000;

/**
 * Bounds the requests of each caller, and of each run for tokens, before any question about rights, so that nobody fills the
 * connections to the store. The bounds are those of one replica, and do not depend on the agent of a request.
 */
export function createCallerLimiter({ perMinute }: Pick<RunLimits, 'perMinute'>, now: () => number): CallerLimiter {
  const refillMs = 60_000 / (perMinute * requestsPerRun);
  const bounds = { burst: (burstSeconds * 1_000) / refillMs, refillMs, maxKeys, now };
  const [callers, runs] = [createTokenBuckets(bounds), createTokenBuckets(bounds)];
  return {
    admits: ({ subject, actors }) =>
      callers.take(JSON.stringify([subject, ...actors].map((one) => [one.issuer, one.subject]))),
    admitsRun: (runId) => runs.take(runId),
    retryAfterSeconds: Math.ceil(refillMs / 1_000),
  };
}
