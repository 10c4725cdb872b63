import { type ChangeAuthor, changeEntry } from '#audit/change-entry';
import type { AuditContent } from '#contracts/audit';
import type { RevisionPurge } from '#contracts/revision-purge';
import type { Clock } from '#kit/time/clock';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { isKubeError, KubeError } from '#kube/client/kube-error';
import { listAll } from '#kube/client/list-all';
import { changeNoteAnnotation, readChangeNote } from '#resources/change-note';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import { forgettingCausesOf, purgedSpec, purgeMark } from '#resources/purged-revision';
import type { Database, TransactionSql } from '#sql/connect';
import { createRightsLock, underFreeRightsLock } from '../access/lock-rights.ts';
import { roleRight } from '../access/required-right.ts';
import type { Rights } from '../access/rights.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { denials } from '../operations/send-write.ts';
import { findPolicy } from '../policies/find-policy.ts';
import type { BegunPurge, BegunPurges } from './begun-purges.ts';
import { gatherUses } from './gather-uses.ts';
import type { CommandTexts } from './ports.ts';
import { type RevisionUse, revisionUses } from './revision-uses.ts';

/** The author of a purge. */
type PurgeCaller = ChangeAuthor & {
  /** Groups of the token, as objects of relations. */
  readonly groups: readonly string[];
};

type PurgeResult =
  | { readonly kind: 'purged'; readonly purge: RevisionPurge }
  | { readonly kind: 'unknown' }
  /** An object needs the text or contains it. Nothing was changed. */
  | { readonly kind: 'in_use'; readonly uses: readonly RevisionUse[] }
  /** The caller lost the right to administer after the request was authorized. */
  | { readonly kind: 'no_right' }
  /** The server of the resources refuses writes of this process. Nothing was changed. */
  | { readonly kind: 'denied' };

type Marked = { readonly kind: 'marked'; readonly revision: Stored<PolicyRevision> } | PurgeResult;

export type RevisionPurges = {
  /**
   * Permanently removes the text of one revision. The call can be repeated safely. @throws KubeError,
   * RecordsUnavailableError, SqlUnavailableError
   */
  purge(policyId: string, number: number, by: PurgeCaller): Promise<PurgeResult>;
  /** Adds the entries of old purges that a killed process began, or that got no answer. */
  settleLeft(): Promise<void>;
};

/** Attempts of a change that races with another process. */
const mostTries = 5;

/** The last applied manifest that kubectl keeps in an annotation of a policy: it can hold a text that the policy no longer has. */
const appliedByKubectl = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Removes texts of revisions (docs/decisions/0062-a-purge-leaves-number-and-digest.md): marks the revision, so that no
 * application can begin, searches for uses, and then writes the revision without its text. Each purge that took effect
 * has one entry in the audit log (docs/decisions/0183-an-entry-of-a-purge-says-what-happened.md).
 */
export function createRevisionPurges(options: {
  readonly database: Pick<Database, 'sql'>;
  readonly client: Pick<KubeClient, 'get' | 'list' | 'patch'>;
  readonly caches: Pick<ManagementCaches, 'policies' | 'revisions'>;
  readonly rights: Rights;
  readonly texts: CommandTexts;
  readonly begun: BegunPurges;
  readonly clock: Clock;
}): RevisionPurges {
  const { database, client, caches, rights, texts, begun, clock } = options;
  const locked = createRightsLock(database);

  /** Marks the revision, so that no application can begin. */
  async function mark(policyId: string, number: number, by: PurgeCaller): Promise<Marked> {
    if (!(await rights.has(by, roleRight('administer')))) return { kind: 'no_right' };
    const read = await client.get<PolicyRevision>(kinds.policyRevision, `${policyId}-${number}`);
    if (read === undefined) return { kind: 'unknown' };
    if (read.spec.purgeTime !== undefined) return answerOf(read, read.spec.purgeTime, false);
    try {
      const annotations = { [purgeMark]: 'requested' };
      return { kind: 'marked', revision: await applyDesired(client, kinds.policyRevision, read, { annotations }) };
    } catch (error) {
      if (isKubeError(error, ...denials)) return { kind: 'denied' };
      throw error;
    }
  }

  function unmark(marked: Stored<PolicyRevision>): Promise<unknown> {
    return applyDesired(client, kinds.policyRevision, marked, { annotations: { [purgeMark]: null } });
  }

  /** Removes the text of an unused revision, if its mark is the same as before its uses were read. */
  async function remove(
    transaction: TransactionSql,
    marked: Stored<PolicyRevision>,
    by: PurgeCaller,
  ): Promise<PurgeResult | 'raced'> {
    if (!(await rights.has(by, roleRight('administer')))) {
      await unmark(marked);
      return { kind: 'no_right' };
    }
    const { policyId, number, definitionDigest } = marked.spec;
    const live = await client.get<PolicyRevision>(kinds.policyRevision, marked.metadata.name);
    if (live?.metadata.resourceVersion !== marked.metadata.resourceVersion) return 'raced';
    const now = clock.date();
    // The purge is stored before the lock is requested again, so that every process that has the lock later sees the
    // purge.
    const purge = await begun.begin(marked.metadata.name, entryOf(marked, by, now));
    await holdsLock(transaction);
    await texts.forget(policyId, { number, definitionDigest });
    await forgetNotes(marked);
    const spec = purgedSpec(marked.spec, now.toISOString());
    await holdsLock(transaction);
    await applyDesired(client, kinds.policyRevision, marked, { spec });
    await begun.end(transaction, [purge]);
    return answerOf(marked, now.toISOString(), true);
  }

  /** The lists, which can be long, are read between two short holds of the lock: changes of rights do not wait for them. */
  async function purgeOnce(policyId: string, number: number, by: PurgeCaller): Promise<PurgeResult | 'raced'> {
    const marked = await locked(() => mark(policyId, number, by));
    if (marked.kind !== 'marked') return marked;
    const uses = revisionUses(await gatherUses({ client, caches, texts }, marked.revision));
    if (uses.length > 0) {
      await unmark(marked.revision);
      return { kind: 'in_use', uses };
    }
    return locked((transaction) => remove(transaction, marked.revision, by));
  }

  async function purge(policyId: string, number: number, by: PurgeCaller): Promise<PurgeResult> {
    for (let tried = 1; ; tried += 1) {
      const result = await purgeOnce(policyId, number, by);
      if (result === 'raced') {
        if (tried === mostTries) throw new KubeError('conflict', 'another purge of the revision is in progress');
        continue;
      }
      // A repetition continues the purge of a killed process.
      if (result.kind === 'purged') {
        await forgetCauses(`${policyId}-${number}`);
      }
      return result;
    }
  }

  /**
   * Makes the operator remove the causes of failed applications of the revision, because they may quote its rules and
   * tests.
   */
  async function forgetCauses(revisionName: string): Promise<void> {
    const { items } = await listAll<ModelBinding>(client, kinds.modelBinding);
    for (const { metadata } of items.filter((binding) => forgettingCausesOf(revisionName, binding) !== undefined)) {
      await untilNoRace(async () => {
        const binding = await client.get<ModelBinding>(kinds.modelBinding, metadata.name);
        const annotations = binding === undefined ? undefined : forgettingCausesOf(revisionName, binding);
        if (binding === undefined || annotations === undefined) return;
        await applyDesired(client, kinds.modelBinding, binding, { annotations });
      });
    }
  }

  function answerOf({ spec, ...others }: Stored<PolicyRevision>, purgedAt: string, changed: boolean) {
    const { policyId, number, definitionDigest } = spec;
    const sameDefinition = sameAs({ spec, ...others });
    const purge = { policyId, revision: number, definitionDigest, purgedAt, changed, sameDefinition };
    return { kind: 'purged', purge } as const;
  }

  function sameAs({ spec }: Stored<PolicyRevision>): number[] {
    return caches
      .revisions(spec.policyId)
      .filter(
        ({ number, definitionDigest, purgeTime }) =>
          number !== spec.number && purgeTime === undefined && definitionDigest === spec.definitionDigest,
      )
      .map(({ number }) => number)
      .toSorted((a, b) => a - b);
  }

  /** Removes copies from the annotations of the policy: the manifest of kubectl, and the message of this version. */
  async function forgetNotes({ spec }: Stored<PolicyRevision>): Promise<void> {
    const policy = await findPolicy(client, caches, spec.policyId);
    if (policy === undefined) return;
    const isNoteOfIt = readChangeNote(policy.metadata.annotations, spec.token) !== undefined;
    const annotations = { [appliedByKubectl]: null, ...(isNoteOfIt ? { [changeNoteAnnotation]: null } : {}) };
    await applyDesired(client, kinds.guardrailPolicy, policy, { annotations });
  }

  /** The entry of a purge whose process did not see its end: the time in the revision shows whether it was made. */
  async function settled({ purgeId, revision, entry }: BegunPurge): Promise<BegunPurge> {
    const read = await client.get<PolicyRevision>(kinds.policyRevision, revision);
    const isMade = read?.spec.purgeTime === entry.time;
    return {
      purgeId,
      revision,
      entry: isMade ? entry : { ...entry, outcome: 'failed', code: 'resources_unavailable' },
    };
  }

  async function settleLeft(): Promise<void> {
    for (let hasEnded = true; hasEnded; ) {
      hasEnded = false;
      const [oldest] = await begun.left();
      if (oldest === undefined) return;
      // This call comes before the lock, so that the lock stays free while the server of the resources does not answer.
      await settled(oldest);
      await underFreeRightsLock(database, async (transaction) => {
        const ended: BegunPurge[] = [];
        for (const purge of await begun.left()) ended.push(await settled(purge));
        if (ended.length > 0) await begun.end(transaction, ended);
        hasEnded = ended.length > 0;
      });
    }
  }

  return { purge, settleLeft };
}

/** Fails if the lock was lost: the server ends a session that was idle for too long. @throws SqlUnavailableError */
async function holdsLock(transaction: TransactionSql): Promise<void> {
  await transaction`select 1`;
}

/** The operator writes the status of a binding at any time. */
async function untilNoRace(change: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await change();
    } catch (error) {
      if (tried === mostTries || !isKubeError(error, 'precondition_failed', 'conflict', 'not_found')) throw error;
    }
  }
}

function entryOf({ metadata, spec }: Stored<PolicyRevision>, by: PurgeCaller, now: Date): AuditContent {
  const state = { policyId: spec.policyId, revision: spec.number, digest: spec.definitionDigest };
  const target = { type: 'revision', id: metadata.name } as const;
  return changeEntry({ action: 'revision.purge', target, before: state, after: state }, by, now);
}
