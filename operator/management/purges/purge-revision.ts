import { type ChangeAuthor, changeEntry } from '#audit/change-entry';
import type { AuditLog } from '#audit/ports';
import type { AuditContent } from '#contracts/audit';
import type { RevisionPurge } from '#contracts/revision-purge';
import type { Clock } from '#kit/time/clock';
import { applyDesired } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import { changeNoteAnnotation, readChangeNote } from '#resources/change-note';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { purgedSpec, purgeMark } from '#resources/purged-revision';
import type { Database } from '#sql/connect';
import { createRightsLock } from '../access/lock-rights.ts';
import { roleRight } from '../access/required-right.ts';
import type { Rights } from '../access/rights.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { findPolicy } from '../policies/find-policy.ts';
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
  /** Something needs the text or holds it. Nothing was changed. */
  | { readonly kind: 'in_use'; readonly uses: readonly RevisionUse[] }
  /** The caller lost the right to administer after the request was authorized. */
  | { readonly kind: 'no_right' };

export type RevisionPurges = {
  /** Removes the text of one revision for ever. Safe to repeat. @throws KubeError, RecordsUnavailableError, SqlUnavailableError */
  purge(policyId: string, number: number, by: PurgeCaller): Promise<PurgeResult>;
};

/** The last applied manifest that kubectl keeps in an annotation of a policy: it can hold a text that the policy no longer has. */
const appliedByKubectl = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Removes texts of revisions (docs/decisions/0062-a-purge-leaves-number-and-digest.md): marks the revision, so that no
 * application can begin, looks for uses, and then writes the revision without its text.
 */
export function createRevisionPurges(options: {
  readonly database: Pick<Database, 'sql'>;
  readonly client: Pick<KubeClient, 'get' | 'list' | 'patch'>;
  readonly caches: Pick<ManagementCaches, 'policies' | 'revisions'>;
  readonly rights: Rights;
  readonly texts: CommandTexts;
  readonly audit: Pick<AuditLog, 'write'>;
  readonly clock: Clock;
}): RevisionPurges {
  const { database, client, caches, rights, texts, audit, clock } = options;
  const locked = createRightsLock(database);

  async function purgeLocked(policyId: string, number: number, by: PurgeCaller): Promise<PurgeResult> {
    if (!(await rights.has(by, roleRight('administer')))) return { kind: 'no_right' };
    const read = await client.get<PolicyRevision>(kinds.policyRevision, `${policyId}-${number}`);
    if (read === undefined) return { kind: 'unknown' };
    const { definitionDigest, purgeTime: before } = read.spec;
    const answer = (purgedAt: string, changed: boolean): PurgeResult => ({
      kind: 'purged',
      purge: { policyId, revision: number, definitionDigest, purgedAt, changed, sameDefinition: sameAs(read) },
    });
    if (before !== undefined) return answer(before, false);
    const marked = await applyDesired(client, kinds.policyRevision, read, {
      annotations: { [purgeMark]: 'requested' },
    });
    const uses = revisionUses(await gatherUses({ client, caches, texts }, marked));
    if (uses.length > 0) {
      await applyDesired(client, kinds.policyRevision, marked, { annotations: { [purgeMark]: null } });
      return { kind: 'in_use', uses };
    }
    const now = clock.date();
    const entry = entryOf(marked, by, now);
    await audit.write([entry]);
    try {
      await texts.forget(policyId, { number, definitionDigest });
      await forgetNotes(marked);
      const spec = purgedSpec(marked.spec, now.toISOString());
      await applyDesired(client, kinds.policyRevision, marked, { spec });
    } catch (error) {
      await audit.write([{ ...entry, outcome: 'failed', code: 'resources_unavailable' }]);
      throw error;
    }
    return answer(now.toISOString(), true);
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

  return { purge: (policyId, number, by) => locked(() => purgeLocked(policyId, number, by)) };
}

function entryOf({ metadata, spec }: Stored<PolicyRevision>, by: PurgeCaller, now: Date): AuditContent {
  const state = { policyId: spec.policyId, revision: spec.number, digest: spec.definitionDigest };
  const target = { type: 'revision', id: metadata.name } as const;
  return changeEntry({ action: 'revision.purge', target, before: state, after: state }, by, now);
}
