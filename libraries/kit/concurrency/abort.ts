type AbortDeadline = Disposable & {
  /**
   * A signal that is aborted at the timeout or together with the parent signal; its reason is that of the earlier
   * event.
   */
  readonly signal: AbortSignal;
  /** Whether the timeout aborted the signal. */
  timedOut(): boolean;
};

/**
 * A signal that is aborted with its parent or after `ms` milliseconds. Disposing clears the timer and removes the listener
 * on the parent; the signal is not aborted afterwards.
 */
export function withTimeout(parent: AbortSignal | undefined, ms: number): AbortDeadline {
  const controller = new AbortController();
  let late = false;

  function onParent(): void {
    clearTimeout(timer);
    controller.abort(parent?.reason);
  }
  function onTimeout(): void {
    parent?.removeEventListener('abort', onParent);
    late = true;
    controller.abort(new DOMException('the deadline has passed', 'TimeoutError'));
  }

  const timer = setTimeout(onTimeout, ms);
  if (parent?.aborted) onParent();
  else parent?.addEventListener('abort', onParent, { once: true });

  return {
    signal: controller.signal,
    timedOut: () => late,
    [Symbol.dispose]() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', onParent);
    },
  };
}
