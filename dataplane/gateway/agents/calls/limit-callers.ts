import type { RunGrant } from '#identity/run-grant';
import { createTokenBuckets } from '#kit/concurrency/token-bucket';
import type { AgentCaller } from './identify-caller.ts';
import type { RunLimits } from './limit-runs.ts';

export type CallerLimiter = {
  /** Whether a request of this caller may be answered now, for any agent. */
  admits(caller: Pick<AgentCaller, 'subject' | 'actors'>): boolean;
  /** Whether the run of this grant may request a token now. */
  admitsTrade(grant: Pick<RunGrant, 'runId' | 'agentId' | 'subject'>): boolean;
  /** Seconds after which a refused caller or run has its next request. */
  readonly retryAfterSeconds: number;
};

/** How many requests of any kind a caller may send for each run that it may start, for example to read its tasks. */
const requestsPerRun = 20;
/**
 * The minimum rate: if an agent allows fewer runs, its caller may read and poll as often as a caller that may start
 * this many runs in a minute.
 */
const leastPerMinute = 600;
/** A caller that was idle may send the requests of this many seconds in a burst. */
const burstSeconds = 2;
/**
 * Tokens that one run may get in a second, and in a burst: each call of a run needs one token, and a loop makes many
 * calls concurrently.
 */
const tradesOfRun = 1_000;
/**
 * Tokens that all runs of one person with one agent may get in a second: a grant can be traded until its deadline, even
 * after its run.
 */
const tradesOfPerson = 2_000;
/** Maximum number of callers, runs, and pairs of person and agent in memory. */
const maxKeys = 50_000;

/**
 * Bounds the requests of each caller, and the token exchanges of each run and person, before any check of rights, so
 * that no caller occupies all connections to the store. Each replica applies the limits separately. The limits of
 * requests do not depend on the agent.
 */
export function createCallerLimiter({ perMinute }: Pick<RunLimits, 'perMinute'>, now: () => number): CallerLimiter {
  const bucketsOf = (perSecond: number, seconds: number) =>
    createTokenBuckets({ burst: perSecond * seconds, refillMs: 1_000 / perSecond, maxKeys, now });
  const callers = bucketsOf((Math.max(perMinute, leastPerMinute) * requestsPerRun) / 60, burstSeconds);
  const [runs, persons] = [bucketsOf(tradesOfRun, 1), bucketsOf(tradesOfPerson, 1)];
  return {
    admits: ({ subject, actors }) =>
      callers.take(JSON.stringify([subject, ...actors].map((one) => [one.issuer, one.subject]))),
    admitsTrade: ({ runId, agentId, subject }) =>
      runs.take(runId) && persons.take(JSON.stringify([subject.issuer, subject.subject, agentId])),
    retryAfterSeconds: 1,
  };
}
