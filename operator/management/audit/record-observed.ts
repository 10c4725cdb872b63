import type { AuditLog } from '#audit/ports';
import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import type { KubeClient } from '#kube/client/client';
import { idLabel, kinds } from '#resources/kinds';
import { SqlStatementError, SqlUnavailableError } from '#sql/connect';
import type { KnownRevision } from '../caches/known-revision.ts';
import { isShown, type ManagementCaches } from '../caches/management-caches.ts';
import type { OperationStore } from '../operations/ports.ts';
import type { BegunPurges } from '../purges/begun-purges.ts';
import {
  changeOfDeletion,
  changeOfModelDeletion,
  changeOfRevision,
  changesOfBinding,
  changesOfPurge,
  changesOfReturn,
  isMadeBy,
  type ObservedChange,
  sourceOfRevision,
} from './observed-changes.ts';
import { createObjectMemory, labelForm } from './remember-objects.ts';
import { type ObservingFaults, repeatLook } from './repeat-look.ts';

const batch = 500;
const chain = 'management';
/** Interval at which sources of applications that the resources no longer have are removed, milliseconds. */
const forgetEveryMs = 3_600_000;
/** The prefix of all sources of applications. */
const applications = 'application/';

/**
 * Records changes that reached the resources by another way than this API: kubectl, GitOps, the watched folder. Every
 * replica observes them, and each is recorded once; changes of a time without a replica are recorded at the next start.
 */
export function startObserving(options: {
  readonly client: Pick<KubeClient, 'list'>;
  readonly caches: Pick<ManagementCaches, 'everyRevision' | 'revisions' | 'policies' | 'bindings' | 'synced'>;
  readonly audit: Pick<
    AuditLog,
    'read' | 'writeOnce' | 'unknownSources' | 'addSources' | 'openSources' | 'forgetSources'
  >;
  /** How long sources of applications are kept that the resources no longer contain, days. */
  readonly sourceDays: number;
  readonly store: Pick<OperationStore, 'get'>;
  readonly begun: Pick<BegunPurges, 'isOpen'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly faults: ObservingFaults;
}): AsyncDisposable {
  const { client, caches, audit, store, begun, sourceDays, clock, logger, faults } = options;
  /** Sources that need no further observation. Sources of changes that the resources no longer contain are removed. */
  const settled = new Set<string>();
  let forgottenAt = Number.NEGATIVE_INFINITY;
  /** Objects whose changes cannot be read. */
  const unreadable = new Set<string>();
  const models = createObjectMemory('model', { all: () => caches.bindings.list() }, audit);
  const policies = createObjectMemory(
    'policy',
    { all: () => caches.policies.list(), shown: () => caches.policies.list().filter(isShown) },
    audit,
  );

  /**
   * Every change that the resources show. The content of an entry is made only for a change that is not settled. The
   * deletion of an object precedes the changes of its successor with the same id; otherwise the last entry of the log
   * would be the deletion.
   */
  function* candidates(): Generator<Candidate> {
    const revisions = caches.everyRevision();
    yield* changesOfPolicies(revisions);
    for (const model of models.absent()) yield candidateOf(changeOfModelDeletion(model, clock.date()));
    for (const binding of caches.bindings.list()) {
      yield* readable(`binding/${binding.metadata.uid}`, () => changesOfBinding(binding).map(candidateOf));
    }
    for (const change of returns()) yield candidateOf(change);
  }

  function* changesOfPolicies(revisions: readonly KnownRevision[]): Generator<Candidate> {
    const earlierOf = createEarlier(revisions);
    const ofUid = Map.groupBy(revisions, ({ policy }) => policy.uid);
    const changesOf = (revision: KnownRevision): readonly Candidate[] =>
      readable(`revision/${revision.objectName}`, () => [
        { source: sourceOfRevision(revision), read: () => changeOfRevision(revision, earlierOf(revision)) },
        ...changesOfPurge(revision).map(candidateOf),
      ]);
    for (const { uid, change } of deletions(revisions)) {
      for (const revision of ofUid.get(uid) ?? []) yield* changesOf(revision);
      ofUid.delete(uid);
      yield candidateOf(change);
    }
    for (const revision of revisions) if (ofUid.has(revision.policy.uid)) yield* changesOf(revision);
  }

  function found(): readonly ObservedChange[] {
    const changes: ObservedChange[] = [];
    let count = 0;
    for (const { source, read } of candidates()) {
      count += 1;
      if (changes.length < batch && !settled.has(source)) changes.push(...readable(source, () => [read()]));
    }
    if (settled.size > 2 * count + batch) forgetSettled();
    return changes;
  }

  function forgetSettled(): void {
    const present = new Set([...candidates()].map(({ source }) => source));
    for (const source of settled) if (!present.has(source)) settled.delete(source);
  }

  /**
   * Removes the sources of applications that have left the history of their binding and cannot be observed again. A
   * failure of this must not delay the audit.
   */
  async function forgetSources(signal: AbortSignal): Promise<void> {
    if (clock.now() - forgottenAt < forgetEveryMs) return;
    forgottenAt = clock.now();
    try {
      const present = [...candidates()].flatMap(({ source }) => (source.startsWith(applications) ? [source] : []));
      await audit.forgetSources(applications, { days: sourceDays, except: present }, signal);
    } catch (error) {
      logger.warn('sources_not_forgotten', { failure: describeFailure(error) });
    }
  }

  /** Reads an object so that a malformed object does not delay the others. */
  function readable<T>(object: string, read: () => readonly T[]): readonly T[] {
    try {
      return read();
    } catch (error) {
      if (!unreadable.has(object)) noteFault(error);
      unreadable.add(object);
      return [];
    }
  }

  function noteFault(error: unknown, action?: string): void {
    faults.changeNotRecorded();
    logger.error('change_not_recorded', { action, failure: describeFailure(error) });
  }

  /**
   * The deleted policies in the order of their revisions. If a policy was deleted before it was recorded as known, its
   * newest revision has the UID. If a policy was created again with its content, it has no new revision, but the
   * revision of the previous object.
   */
  function deletions(revisions: readonly KnownRevision[]): readonly Deletion[] {
    const now = clock.date();
    const objects = caches.policies.list();
    const living = new Set(objects.map(({ metadata }) => metadata.labels?.[idLabel] ?? ''));
    const uids = new Set(objects.map(({ metadata }) => metadata.uid));
    const newest = newestBy(revisions, ({ policyId }) => policyId);
    const newestOf = newestBy(revisions, ({ policyId, policy }) => `${policyId}/${policy.uid}`);
    const ended = newestBy(
      revisions.filter(({ policy }) => !uids.has(policy.uid)),
      ({ policyId }) => policyId,
    );
    const left = [...newest.values()].filter(({ policyId }) => !living.has(policyId));
    const gone = [...policies.absent(), ...left.map(({ policyId: id, policy: { uid } }) => ({ id, uid }))];
    return gone
      .map(({ id, uid }) => ({ id, uid, last: newestOf.get(`${id}/${uid}`) ?? ended.get(id) }))
      .sort((one, other) => (one.last?.number ?? 0) - (other.last?.number ?? 0))
      .map(({ id, uid, last }) => ({ uid, change: changeOfDeletion({ id, uid }, last, now) }));
  }

  function returns(): readonly ObservedChange[] {
    return caches.policies.list().flatMap((policy) => {
      const id = policy.metadata.labels?.[idLabel] ?? '';
      return isShown(policy) ? changesOfReturn(policy, caches.revisions(id)) : [];
    });
  }

  /**
   * Whether a command of this API made the change: the token alone proves nothing. Undefined while this is not known.
   */
  async function isOwn({ claims, purge }: ObservedChange): Promise<boolean | undefined> {
    if (purge !== undefined) return isPurgeOfApi(purge);
    if (claims === undefined || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(claims.operationId)) return false;
    return isMadeBy(claims, await store.get(claims.operationId));
  }

  /**
   * A purge by this API is stored with its time before it takes effect, until it has an entry. If the purge is older
   * than the retained entries, its author is no longer known, and no second entry is made for it.
   */
  async function isPurgeOfApi({ objectName, time, seenAt }: NonNullable<ObservedChange['purge']>) {
    const at = Date.parse(time);
    if (!Number.isNaN(at)) {
      const [since, until] = [new Date(at).toISOString(), new Date(at + 1).toISOString()];
      if (await begun.isOpen(objectName, since)) return undefined;
      const filter = { action: 'revision.purge', outcome: 'accepted', targetId: objectName, since, until } as const;
      if ((await audit.read({ filter, order: 'newest', limit: 1 })).entries.length > 0) return true;
    }
    if (seenAt === undefined) return false;
    const [oldest] = (await audit.read({ filter: { chain }, order: 'oldest', limit: 1 })).entries;
    return oldest !== undefined && oldest.number > 1 && Date.parse(seenAt) < Date.parse(oldest.content.time);
  }

  async function look(signal: AbortSignal): Promise<void> {
    await models.remember();
    await policies.remember();
    await recordFound(signal);
    await forgetSources(signal);
  }

  async function recordFound(signal: AbortSignal): Promise<void> {
    const changes = found();
    if (changes.length === 0) return;
    const unknown = await unknownOf(changes);
    const own: string[] = [];
    for (const change of changes) {
      if (signal.aborted) return;
      const { source } = change;
      if (unknown.has(source)) {
        const isOfCommand = await isOwn(change);
        if (isOfCommand === true) own.push(source);
        if (isOfCommand !== false || !(await record(change))) continue;
      }
      settled.add(source);
    }
    // A command is deleted long before the revision that it made, which is then not a change by another client.
    await audit.addSources(own);
    for (const source of own) settled.add(source);
  }

  /** If the sources cannot be read together, each change checks separately whether it has an entry. */
  async function unknownOf(changes: readonly ObservedChange[]): Promise<ReadonlySet<string>> {
    const sources = changes.map(({ source }) => source);
    try {
      return new Set(await audit.unknownSources(sources));
    } catch (error) {
      if (error instanceof SqlStatementError && error.isOfData) return new Set(sources);
      throw error;
    }
  }

  /** @returns whether the change is settled; false for a deletion of a policy or model that exists */
  async function record({ source, deleted, content }: ObservedChange): Promise<boolean> {
    if (deleted !== undefined && (await isOnServer(deleted))) return false;
    // A resource may contain any time, even one that no calendar has. A time in the future would prevent the retention
    // of all entries after it.
    const now = clock.date();
    const at = Date.parse(content.time);
    const time = (at >= 0 && at <= now.getTime() ? new Date(at) : now).toISOString();
    try {
      await audit.writeOnce(source, { ...content, time });
    } catch (error) {
      if (error instanceof SqlUnavailableError) throw error;
      if (error instanceof SqlStatementError && !error.isOfData) throw error;
      // A change that has no valid form must not delay the changes after it.
      noteFault(error, content.action);
    }
    return true;
  }

  /** Caches may be older than the state of the server, and the cache of policies older than the cache of revisions. */
  async function isOnServer({ kind, id, uid }: NonNullable<ObservedChange['deleted']>): Promise<boolean> {
    const isPolicy = kind.kind === kinds.guardrailPolicy.kind;
    if (isPolicy && !labelForm.test(id)) return false;
    // Only the policies with this id are listed, because all policies together are large.
    const { items } = await client.list(kind, isPolicy ? { labelSelector: `${idLabel}=${id}` } : {});
    return items.some(({ metadata }) => metadata.uid === uid);
  }

  return repeatLook(look, { synced: caches.synced, clock, logger, faults });
}

type Candidate = { readonly source: string; readonly read: () => ObservedChange };

/** The deletion of the policy with this UID. */
type Deletion = { readonly uid: string; readonly change: ObservedChange };

function newestBy(
  revisions: readonly KnownRevision[],
  keyOf: (revision: KnownRevision) => string,
): ReadonlyMap<string, KnownRevision> {
  const newest = new Map<string, KnownRevision>();
  for (const revision of revisions) {
    const known = newest.get(keyOf(revision));
    if (known === undefined || known.number < revision.number) newest.set(keyOf(revision), revision);
  }
  return newest;
}

function candidateOf(change: ObservedChange): Candidate {
  return { source: change.source, read: () => change };
}

/** Finds the revision that precedes another revision. The revisions are sorted by policy when it is first used. */
function createEarlier(revisions: readonly KnownRevision[]): (revision: KnownRevision) => KnownRevision | undefined {
  let byPolicy: ReadonlyMap<string, readonly KnownRevision[]> | undefined;
  return ({ policyId, number }) => {
    byPolicy ??= Map.groupBy(revisions, (one) => one.policyId);
    const below = (byPolicy.get(policyId) ?? []).filter((one) => one.number < number);
    return below.reduce<KnownRevision | undefined>(
      (newest, one) => (newest === undefined || one.number > newest.number ? one : newest),
      undefined,
    );
  };
}
