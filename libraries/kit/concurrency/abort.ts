export type Deadline = Disposable & {
  /** Aborted when the time is over or the parent is aborted, with the reason of whichever came first. */
  readonly signal: AbortSignal;
  /** Whether it was the time that ended it. */
  timedOut(): boolean;
};

/**
 * A signal that ends with its parent or after `ms` milliseconds. Disposing clears the timer and lets go of the parent
 * without aborting: work that goes on has nothing left to fear from this deadline.
 */
export function withTimeout(parent: AbortSignal | undefined, ms: number): Deadline {
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
