/** Resolves after `ms` milliseconds, or immediately when the signal is aborted; never rejects. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(end, ms);
  signal.addEventListener('abort', end, { once: true });
  function end(): void {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
    resolve();
  }
  return promise;
}
