/**
 * Pauses in milliseconds: until the first repetition, doubling up to the longest; and until the next attempt while
 * another check is running.
 */
export const latePauses = { firstMs: 60_000, longestMs: 3_600_000, busyMs: 2_000 } as const;

type LateVersion = { readonly pauseMs: number; readonly dueAt: number };

/**
 * Repetitions of the checks that exceeded their timeout. Each check uses a core for its whole timeout, so that the
 * checks are repeated with growing pauses and one at a time, which leaves a core for the checks of other versions.
 */
type LateChecks = {
  /** Notes that the checks of the version were late once more. */
  note(uid: string): void;
  forget(uid: string): void;
  has(uid: string): boolean;
  /** Milliseconds until the checks of the version are repeated; 0 if they are due, or were not late. */
  pauseOf(uid: string): number;
  /** Runs a repetition; undefined if another repetition is running. */
  repeat<T>(check: () => Promise<T>): Promise<T> | undefined;
};

/** @param now milliseconds of a monotonic clock */
export function createLateChecks(now: () => number): LateChecks {
  const late = new Map<string, LateVersion>();
  let isRepeating = false;
  return {
    note(uid) {
      const before = late.get(uid);
      const pauseMs = before === undefined ? latePauses.firstMs : Math.min(latePauses.longestMs, 2 * before.pauseMs);
      late.set(uid, { pauseMs, dueAt: now() + pauseMs });
    },
    forget: (uid) => void late.delete(uid),
    has: (uid) => late.has(uid),
    pauseOf: (uid) => Math.max(0, (late.get(uid)?.dueAt ?? 0) - now()),
    repeat(check) {
      if (isRepeating) return undefined;
      isRepeating = true;
      return check().finally(() => {
        isRepeating = false;
      });
    },
  };
}
