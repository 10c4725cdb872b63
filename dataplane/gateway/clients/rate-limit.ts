/** At most `requests` in `ms` milliseconds, spread evenly or in a burst after a pause. */
export type Rate = { readonly requests: number; readonly ms: number };

/** Limits the rate of one client. */
export type RateLimit = {
  /** Takes one request. @returns 0 if the request is allowed, else the milliseconds until a request will be allowed */
  take(now: number): number;
};

/** A token bucket that holds the requests of one period and is filled evenly. */
export function createRateLimit({ requests, ms }: Rate): RateLimit {
  let tokens = requests;
  let filledAt: number | undefined;
  return {
    take(now) {
      const past = Math.max(0, now - (filledAt ?? now));
      tokens = Math.min(requests, tokens + (past * requests) / ms);
      filledAt = now;
      if (tokens >= 1) {
        tokens -= 1;
        return 0;
      }
      return Math.ceil(((1 - tokens) * ms) / requests);
    },
  };
}
