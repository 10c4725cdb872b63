import { type Clock, systemClock } from '#kit/time/clock';
import type { Priority } from './priority-queue.ts';

/**
 * Longest time in which new passes are started in one iteration of the event loop, milliseconds; afterwards watches and
 * lease renewals run.
 */
const iterationMs = 5;
/**
 * Throttle for low-priority passes while a high-priority pass runs. A pass makes several API calls, and every other pass
 * in the event loop delays each answer: at most `concurrent` of them run, started for `startMs` and then paused for
 * `pauseMs`.
 */
const lowPriority = { concurrent: 2, startMs: 2, pauseMs: 6 } as const;

/** Decides when the work queues of one process may start passes. */
export type PassScheduler = {
  /**
   * Whether a pass may start in this iteration of the event loop; if not, listeners are called in the next iteration.
   */
  mayBegin(): boolean;
  /** Whether a low-priority pass may start; if not, listeners are called when one may start. */
  mayBeginLow(): boolean;
  began(priority: Priority): void;
  ended(priority: Priority): void;
  /** @returns a function that removes the listener */
  listen(onMayBegin: () => void): () => void;
};

export function createPassScheduler({ clock = systemClock }: { readonly clock?: Clock } = {}): PassScheduler {
  const listeners = new Set<() => void>();
  const running: Record<Priority, number> = { high: 0, normal: 0, low: 0 };
  /** The time at which the first pass of this iteration of the event loop started; undefined before that. */
  let iterationSince: number | undefined;
  /**
   * The time at which the first low-priority pass started while a high-priority pass was running; undefined without a
   * throttle.
   */
  let throttledSince: number | undefined;
  let pause: NodeJS.Timeout | undefined;
  /** Whether a low-priority pass waits for the end of another pass. */
  let isWaiting = false;

  /** The first listener may use the whole iteration: it moves to the end, so that no queue starves. */
  function notify(): void {
    const [first] = listeners;
    for (const onMayBegin of [...listeners]) onMayBegin();
    if (first !== undefined && listeners.delete(first)) listeners.add(first);
  }

  function beginIteration(): void {
    iterationSince = undefined;
    notify();
  }

  function endPause(): void {
    pause = undefined;
    notify();
  }

  return {
    mayBegin() {
      if (iterationSince !== undefined) return clock.now() - iterationSince < iterationMs;
      iterationSince = clock.now();
      setImmediate(beginIteration);
      return true;
    },
    mayBeginLow() {
      if (running.high === 0) return true;
      if (pause !== undefined) return false;
      isWaiting = running.low >= lowPriority.concurrent;
      if (isWaiting) return false;
      // The time is counted from the first pass that started, not from the first question, because `mayBegin` may still
      // have refused that pass.
      if (throttledSince === undefined || clock.now() - throttledSince < lowPriority.startMs) return true;
      throttledSince = undefined;
      pause = setTimeout(endPause, lowPriority.pauseMs);
      return false;
    },
    began(priority) {
      running[priority] += 1;
      if (priority === 'low' && running.high > 0) throttledSince ??= clock.now();
    },
    ended(priority) {
      running[priority] -= 1;
      if (running.high === 0) throttledSince = undefined;
      if (!isWaiting) return;
      isWaiting = false;
      setImmediate(notify);
    },
    listen(onMayBegin) {
      listeners.add(onMayBegin);
      return () => void listeners.delete(onMayBegin);
    },
  };
}
