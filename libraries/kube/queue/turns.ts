import { type Clock, systemClock } from '#kit/time/clock';
import type { Priority } from './lanes.ts';

/**
 * Passes that wait for nothing follow each other in one turn of the event loop; after so many milliseconds of them
 * everything else has its turn, watches and the lease among it.
 */
const turnMs = 5;
/**
 * Whoever waits for a pass waits for several answers of the server, and every turn of other passes makes each of them
 * late. Meanwhile few passes of the lowest lane are under way, and they begin for so many milliseconds, and then rest.
 */
const shared = { atOnce: 2, workMs: 2, restMs: 6 } as const;

/** When passes of queues in one event loop begin. */
export type Turns = {
  /** Whether a pass may begin in this turn; where not, who follows the turns is told of the next one. */
  mayBegin(): boolean;
  /** Whether it may be one of the lowest lane; where not, who follows the turns is told when. */
  mayBeginLow(): boolean;
  began(priority: Priority): void;
  ended(priority: Priority): void;
  /** @returns ends it */
  follow(onTurn: () => void): () => void;
};

export function createTurns({ clock = systemClock }: { readonly clock?: Clock } = {}): Turns {
  const followers = new Set<() => void>();
  const underWay: Record<Priority, number> = { high: 0, normal: 0, low: 0 };
  /** When this turn of the event loop began to work; undefined where it did not. */
  let since: number | undefined;
  /** When the first one of the lowest lane began to share; undefined until one does, and while it has the loop for itself. */
  let sharesSince: number | undefined;
  let rest: NodeJS.Timeout | undefined;
  /** Whether a pass of the lowest lane waits for the end of another one. */
  let isHeld = false;

  /** Whoever is told first may take the whole turn: the next time it is told last. */
  function tell(): void {
    const [first] = followers;
    for (const onTurn of [...followers]) onTurn();
    if (first !== undefined && followers.delete(first)) followers.add(first);
  }

  function beginTurn(): void {
    since = undefined;
    tell();
  }

  function endRest(): void {
    rest = undefined;
    tell();
  }

  return {
    mayBegin() {
      if (since !== undefined) return clock.now() - since < turnMs;
      since = clock.now();
      setImmediate(beginTurn);
      return true;
    },
    mayBeginLow() {
      if (underWay.high === 0) return true;
      if (rest !== undefined) return false;
      isHeld = underWay.low >= shared.atOnce;
      if (isHeld) return false;
      // Whoever may begin but does not, for the turn is over, has not had its share.
      if (sharesSince === undefined || clock.now() - sharesSince < shared.workMs) return true;
      sharesSince = undefined;
      rest = setTimeout(endRest, shared.restMs);
      return false;
    },
    began(priority) {
      underWay[priority] += 1;
      if (priority === 'low' && underWay.high > 0) sharesSince ??= clock.now();
    },
    ended(priority) {
      underWay[priority] -= 1;
      if (underWay.high === 0) sharesSince = undefined;
      if (!isHeld) return;
      isHeld = false;
      setImmediate(tell);
    },
    follow(onTurn) {
      followers.add(onTurn);
      return () => void followers.delete(onTurn);
    },
  };
}
