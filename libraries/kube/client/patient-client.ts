import { wait } from '#kit/time/wait';
import type { Kind } from '#resources/kinds';
import type { KubeClient, ListOptions } from './client.ts';
import { isKubeError } from './kube-error.ts';
import type { KubeObject } from './kube-object.ts';

/** What a server answers that did nothing: 429 and 503 (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const refusedForNow: readonly (number | undefined)[] = [429, 503];
const never = new AbortController().signal;

/**
 * The same client, which comes back when the server says so (Retry-After), as long as that is within `patienceMs` of
 * the call: API servers answer so for a second after a definition was changed, and after their start. A refusal
 * without a time is final, and so is what may have happened. Watches are not repeated.
 */
export function patient<C extends KubeClient>(client: C, patienceMs: number): C {
  async function insist<T>(call: () => Promise<T>, signal: AbortSignal = never): Promise<T> {
    const end = performance.now() + patienceMs;
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const pauseMs = askedPause(error);
        if (pauseMs === undefined || performance.now() + pauseMs > end) throw error;
        await wait(pauseMs, signal);
        if (signal.aborted) throw error;
      }
    }
  }
  function insisting<A extends readonly unknown[], T>(call: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return (...args) => insist(() => call(...args));
  }
  return {
    ...client,
    get: insisting(client.get) as KubeClient['get'],
    list: <R extends KubeObject>(kind: Kind, options: ListOptions = {}) =>
      insist(() => client.list<R>(kind, options), options.signal),
    create: insisting(client.create) as KubeClient['create'],
    patch: insisting(client.patch) as KubeClient['patch'],
    patchStatus: insisting(client.patchStatus) as KubeClient['patchStatus'],
    delete: insisting(client.delete),
  };
}

/** Milliseconds after which the server wants to be asked again; undefined when it does not say. */
function askedPause(error: unknown): number | undefined {
  if (!isKubeError(error) || !refusedForNow.includes(error.details.status)) return undefined;
  return error.details.retryAfterMs;
}
