import type { Clock } from '#kit/time/clock';

/**
 * Elapsed time on the monotonic clock of this process: a jump of the wall clock fails no
 * application, and a restart of the operator starts at 0 again.
 */
type Stopwatches = {
  /** Milliseconds since this subject was first seen with this key; another key starts at 0. */
  elapsed(subject: string, key: string): number;
  /** Milliseconds since the subject was first seen with its latest key; 0 for an unknown subject. */
  current(subject: string): number;
  isRunning(subject: string): boolean;
  forget(subject: string): void;
};

export function createStopwatches(clock: Clock): Stopwatches {
  const started = new Map<string, { readonly key: string; readonly since: number }>();
  return {
    elapsed(subject, key) {
      const watch = started.get(subject);
      if (watch?.key === key) return clock.now() - watch.since;
      started.set(subject, { key, since: clock.now() });
      return 0;
    },
    current(subject) {
      const watch = started.get(subject);
      return watch === undefined ? 0 : clock.now() - watch.since;
    },
    isRunning: (subject) => started.has(subject),
    forget(subject) {
      started.delete(subject);
    },
  };
}
