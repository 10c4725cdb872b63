import type { AuditLog } from '#audit/ports';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { idLabel } from '#resources/kinds';
import type { ManagementCaches } from '../caches/management-caches.ts';
import type { OperationStore } from '../operations/ports.ts';
import { changeOfDeletion, changeOfRevision, changesOfBinding, type ObservedChange } from './observed-changes.ts';

/** Interval of looking at the watched resources, milliseconds. Nothing is sent while nothing changed. */
const everyMs = 1_000;
const batch = 500;

/**
 * Records changes that reached the resources by another way than this API: kubectl, GitOps, the watched folder. Every
 * replica observes them, and each is recorded once; changes of a time without a replica are recorded at the next start.
 */
export function startObserving(options: {
  readonly caches: Pick<ManagementCaches, 'everyRevision' | 'policies' | 'bindings' | 'synced'>;
  readonly audit: Pick<AuditLog, 'writeOnce' | 'unknownSources'>;
  readonly store: Pick<OperationStore, 'get'>;
  readonly clock: Clock;
  readonly logger: Logger;
}): AsyncDisposable {
  const { caches, audit, store, clock, logger } = options;
  const settled = new Set<string>();
  let stopped = false;

  function found(): readonly ObservedChange[] {
    const changes = [
      ...caches.everyRevision().map(changeOfRevision),
      ...caches.bindings.list().flatMap(changesOfBinding),
      ...deletions(),
    ];
    return changes.filter(({ source }) => !settled.has(source)).slice(0, batch);
  }

  function deletions(): readonly ObservedChange[] {
    const living = new Set(caches.policies.list().map(({ metadata }) => metadata.labels?.[idLabel] ?? ''));
    const newest = new Map(
      caches
        .everyRevision()
        .toSorted((a, b) => a.number - b.number)
        .map((revision) => [revision.policyId, revision]),
    );
    return [...newest.values()]
      .filter(({ policyId }) => !living.has(policyId))
      .map((revision) => changeOfDeletion(revision, clock.date()));
  }

  /** Whether a command of this API made the change: the token alone proves nothing. */
  async function isOwn({ claims }: ObservedChange): Promise<boolean> {
    if (claims === undefined || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(claims.operationId)) return false;
    const command = await store.get(claims.operationId);
    return command?.target.id === claims.targetId;
  }

  async function look(): Promise<void> {
    const changes = found();
    if (changes.length === 0) return;
    const unknown = new Set(await audit.unknownSources(changes.map(({ source }) => source)));
    for (const change of changes) {
      if (stopped) return;
      if (unknown.has(change.source) && !(await isOwn(change))) {
        await audit.writeOnce(change.source, change.content);
      }
      settled.add(change.source);
    }
  }

  async function run(): Promise<void> {
    await caches.synced;
    while (!stopped) {
      try {
        await look();
      } catch (error) {
        logger.warn('observing_failed', { failure: describeFailure(error) });
      }
      if (!stopped) await pause();
    }
  }

  let endPause: () => void = () => undefined;
  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      endPause();
      await running;
    },
  };
}
