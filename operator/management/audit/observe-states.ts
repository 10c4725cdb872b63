import type { AuditContent } from '#contracts/audit';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { StoreView } from '#kube/watch/object-store';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { SqlStatementError, SqlUnavailableError } from '#sql/connect';
import type { KnownObject, ObservedStates, RecordedState } from './ports.ts';
import { type ObservingFaults, repeatLook } from './repeat-look.ts';

/** Maximum number of states that wait for the database; beyond it only the newest state of each object is recorded. */
const mostWaiting = 1_000;

export type ObservingTools = { readonly clock: Clock; readonly logger: Logger; readonly faults: ObservingFaults };

/**
 * Records changes of the specs of one kind whose objects keep no history. Every replica observes the changes, and each
 * change is recorded once; after a time without a replica, the changes of that time are recorded as one.
 */
export function startObservingStates<R extends Resource, S>(
  options: ObservingTools & {
    readonly client: Pick<KubeClient, 'list'>;
    readonly kind: Kind;
    readonly cache: Pick<StoreView<R>, 'list'>;
    readonly synced: Promise<void>;
    /** Sets the listener for each generation that the watch reports, and each new object of a name. */
    readonly onChange: (listener: (object: Stored<R>) => void) => void;
    readonly states: ObservedStates<S>;
    /** The state that is recorded; undefined for an object whose changes cannot be recorded yet. */
    readonly stateOf: (object: Stored<R>) => S | undefined;
    readonly changesOf: (object: Stored<R>, before: RecordedState<S>, now: Date) => readonly AuditContent[];
    readonly changesOfDeletion: (name: string, before: RecordedState<S>, now: Date) => readonly AuditContent[];
  },
): AsyncDisposable {
  const { client, kind, cache, synced, states, clock, logger, faults } = options;
  let known: Map<string, KnownObject> | undefined;
  /** The newest known object of each name, by its UID. */
  const newest = new Map<string, string>();
  let waiting: readonly Stored<R>[] = [];

  options.onChange((object) => {
    waiting = [...waiting, object].slice(-mostWaiting);
  });

  async function look(signal: AbortSignal): Promise<void> {
    if (known === undefined) {
      known = new Map((await states.known()).map((one) => [one.uid, one]));
      for (const { name, uid } of known.values()) newest.set(name, uid);
    }
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      if (signal.aborted) return;
      await advance(known, next, signal);
      const done = next;
      waiting = waiting.filter((one) => one !== done);
    }
    for (const object of cache.list()) {
      if (signal.aborted) return;
      await advance(known, object, signal);
    }
    await endDeleted(known, signal);
  }

  async function advance(recorded: Map<string, KnownObject>, object: Stored<R>, signal: AbortSignal): Promise<void> {
    const { uid, name, generation } = object.metadata;
    if ((recorded.get(uid)?.generation ?? 0) >= generation) return;
    const state = options.stateOf(object);
    if (state === undefined) return;
    // Both objects have the same id; without this check the last entry of the log would be the deletion of the earlier
    // object.
    if ((newest.get(name) ?? uid) !== uid) {
      await endDeleted(recorded, signal);
      if (signal.aborted) return;
    }
    const observed = { uid, name, generation };
    await written(() =>
      states.advance({ ...observed, state }, (before) => options.changesOf(object, before, clock.date())),
    );
    recorded.set(uid, observed);
    newest.set(name, uid);
  }

  /** A cache may lag behind the server, so the server decides whether an object was deleted. */
  async function endDeleted(recorded: Map<string, KnownObject>, signal: AbortSignal): Promise<void> {
    const cached = new Set(cache.list().map(({ metadata }) => metadata.uid));
    const absent = [...recorded.values()].filter(({ uid }) => !cached.has(uid));
    if (absent.length === 0) return;
    const { items } = await listAll<R>(client, kind);
    const living = new Set(items.map(({ metadata }) => metadata.uid));
    for (const { uid, name } of absent) {
      if (signal.aborted) return;
      if (living.has(uid)) continue;
      await written(() => states.end(uid, (before) => options.changesOfDeletion(name, before, clock.date())));
      recorded.delete(uid);
      if (newest.get(name) === uid) newest.delete(name);
    }
  }

  /** A change that has no valid form must not delay the changes after it. */
  async function written(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (error instanceof SqlUnavailableError) throw error;
      if (error instanceof SqlStatementError && !error.isOfData) throw error;
      faults.changeNotRecorded();
      logger.error('change_not_recorded', { failure: describeFailure(error) });
    }
  }

  return repeatLook(look, { synced, clock, logger, faults });
}
