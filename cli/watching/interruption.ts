/** A signal that is aborted by Ctrl-C, by SIGTERM, and when the reader of the output has ended. */
type Interruption = Disposable & { readonly signal: AbortSignal };

/** Until disposal, the first SIGINT or SIGTERM aborts the signal instead of ending the process. */
export function untilInterrupted(): Interruption {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const name of signals) process.once(name, stop);
  process.stdout.once('error', stop);
  process.stdout.once('close', stop);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of signals) process.off(name, stop);
      process.stdout.off('error', stop);
      process.stdout.off('close', stop);
    },
  };
}
