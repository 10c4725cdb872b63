import { withTimeout } from '#kit/concurrency/abort';
import { SearchUnavailableError } from './search-error.ts';

/**
 * Waits for a promise that others may share: the timeout ends only the waiting, not the work of the promise.
 * @throws SearchUnavailableError `behind` after `ms` milliseconds and `unreachable` for other errors of the promise;
 * the reason of the signal
 */
export async function waitAtMost<T>(
  promise: Promise<T>,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal | undefined },
): Promise<T> {
  if (ms <= 0) throw new SearchUnavailableError('behind');
  using deadline = withTimeout(signal, ms);
  const ended = Promise.withResolvers<never>();
  const end = (): void => {
    ended.reject(deadline.timedOut() ? new SearchUnavailableError('behind') : deadline.signal.reason);
  };
  if (deadline.signal.aborted) end();
  else deadline.signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([promise, ended.promise]);
  } catch (error) {
    if (error instanceof SearchUnavailableError || deadline.signal.aborted) throw error;
    throw new SearchUnavailableError('unreachable', error);
  }
}
