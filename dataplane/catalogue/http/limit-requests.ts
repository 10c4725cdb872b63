import { failure } from '#api/operation';
import { createTokenBuckets } from '#kit/concurrency/token-bucket';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import type { CatalogueRequest, CatalogueResponse } from './catalogue.ts';

export type RequestLimiter = {
  /** Runs a request of a caller; `refused` without a run where the caller has reached a limit. */
  run<T>(caller: CatalogueCaller, request: () => Promise<T>): Promise<T | 'refused'>;
};

/** Maximum number of callers in memory. */
const maxKeys = 50_000;

/** Bounds the requests of each caller in this replica: those at a time, and those that start in a minute. */
export function createRequestLimiter(
  { atOnce, perMinute }: { readonly atOnce: number; readonly perMinute: number },
  now: () => number,
): RequestLimiter {
  const running = new Map<string, number>();
  const buckets = createTokenBuckets({ burst: perMinute, refillMs: 60_000 / perMinute, maxKeys, now });
  return {
    async run({ subject, actors }, request) {
      const key = JSON.stringify([subject, ...actors].map((one) => [one.issuer, one.subject]));
      const held = running.get(key) ?? 0;
      if (held >= atOnce || !buckets.take(key)) return 'refused';
      running.set(key, held + 1);
      try {
        return await request();
      } finally {
        const left = (running.get(key) ?? 1) - 1;
        if (left > 0) running.set(key, left);
        else running.delete(key);
      }
    },
  };
}

/** An operation that counts against the limits of its caller (`catalogue:error:too-many`). */
export function limited(operation: (request: CatalogueRequest) => Promise<CatalogueResponse>) {
  return async (request: CatalogueRequest): Promise<CatalogueResponse> => {
    const response = await request.service.limiter.run(request.caller, () => operation(request));
    return response === 'refused' ? failure('rate_limited') : response;
  };
}
