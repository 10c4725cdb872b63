import type { EventFact } from '#kube/events/event-recorder';
import type { Condition } from '#resources/metadata';

/** An event without its object. */
export type EventNote = Omit<EventFact, 'regarding'>;

export type Watched = {
  readonly type: Condition['type'];
  readonly status: Condition['status'];
  /** The reason of the watched condition; changes to every reason are reported when absent. */
  readonly of?: string;
  /** Reason of the event; when absent, the reason of the condition. */
  readonly reason?: string;
  readonly as: Pick<EventNote, 'type' | 'action'>;
};

type Conditions = readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[] | undefined;

/**
 * The events for a change of the conditions of an object: one event for each condition that changed to a watched
 * status, or that has a watched status with a new reason. Unchanged conditions cause no event.
 */
export function transitionEvents(
  before: Conditions,
  after: Conditions,
  watched: readonly Watched[],
): readonly EventNote[] {
  return watched.flatMap(({ type, status, of, reason, as }) => {
    const now = after?.find((condition) => condition.type === type);
    const then = before?.find((condition) => condition.type === type);
    if (now?.status !== status || (of !== undefined && now.reason !== of)) return [];
    if (then?.status === status && then.reason === now.reason) return [];
    return [{ ...as, reason: reason ?? now.reason, note: now.message }];
  });
}
