import { wait } from '#kit/time/wait';
import type { Kind } from '#resources/kinds';
import type { KubeClient, ListOptions } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';

/** Statuses of a request that the server did not execute: 429 (RFC 6585 §4) and 503 (RFC 9110 §15.6.4). */
const retryableStatuses: readonly (number | undefined)[] = [429, 503];
const never = new AbortController().signal;

/**
 * A client that repeats a call after the Retry-After of a 429 or 503, until `budgetMs` after the first attempt: API
 * servers answer so for a second after a CustomResourceDefinition changed, and after their start. A response without
 * Retry-After and a call that may have been executed are not repeated. Watches are not repeated.
 */
export function retrying<C extends KubeClient>(client: C, budgetMs: number): C {
  async function retry<T>(call: () => Promise<T>, signal: AbortSignal = never): Promise<T> {
    const end = performance.now() + budgetMs;
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const pauseMs = retryAfterMs(error);
        if (pauseMs === undefined || performance.now() + pauseMs > end) throw error;
        await wait(pauseMs, signal);
        if (signal.aborted) throw error;
      }
    }
  }
  function wrap<A extends readonly unknown[], T>(call: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return (...args) => retry(() => call(...args));
  }
  return {
    ...client,
    get: wrap(client.get) as KubeClient['get'],
    list: <R extends KubeObject>(kind: Kind, options: ListOptions = {}) =>
      retry(() => client.list<R>(kind, options), options.signal),
    create: wrap(client.create) as KubeClient['create'],
    patch: wrap(client.patch) as KubeClient['patch'],
    patchStatus: wrap(client.patchStatus) as KubeClient['patchStatus'],
    delete: wrap(client.delete),
  };
}

/** Milliseconds before the next attempt; undefined when the error is not retryable. */
function retryAfterMs(error: unknown): number | undefined {
  if (!isKubeError(error) || !retryableStatuses.includes(error.details.status)) return undefined;
  return error.details.retryAfterMs;
}
