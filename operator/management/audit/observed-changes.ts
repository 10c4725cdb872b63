import type { AuditAuthor, AuditContent } from '#contracts/audit';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ApplicationRecord, ModelBinding } from '#resources/model-binding';
import type { KnownRevision } from '../caches/known-revision.ts';
import { operationOfToken } from '../policies/make-policy.ts';

/** A change of the resources that may have come by another way than this API. */
export type ObservedChange = {
  /** Names the change for ever. */
  readonly source: string;
  /** The command of this API that made it, if its token is true. */
  readonly claims?: { readonly operationId: string; readonly targetId: string } | undefined;
  readonly content: AuditContent;
};

const base = {
  outcome: 'observed',
  client: 'none',
  traceId: null,
  operationId: null,
  before: null,
  count: 1,
  since: null,
} as const;

/** The stated author of a change. Only commands of this API have a verified one. */
function claimedAuthor(author: string | undefined): AuditAuthor {
  return author === undefined ? { kind: 'unknown' } : { kind: 'claimed', name: author };
}

/** A recorded revision: a saved state of a policy. */
export function changeOfRevision(revision: KnownRevision): ObservedChange {
  const { policyId, number, definitionDigest, recordedAt, objectName, token, policy, author } = revision;
  const named = operationOfToken(token);
  const isOwn = named !== undefined && named.generation === policy.generation;
  return {
    source: `revision/${objectName}/${policy.uid}`,
    claims: isOwn ? { operationId: named.operationId, targetId: policyId } : undefined,
    content: {
      ...base,
      time: recordedAt,
      action: 'policy.record',
      code: null,
      author: claimedAuthor(author),
      target: { type: 'policy', id: policyId },
      after: { policyId, revision: number, digest: definitionDigest },
    },
  };
}

/** The decided applications of a binding. */
export function changesOfBinding({ metadata, status }: Stored<ModelBinding>): readonly ObservedChange[] {
  const modelId = metadata.labels?.[idLabel];
  if (modelId === undefined) return [];
  return (status?.applications ?? []).map((record) => changeOfApplication(modelId, metadata.uid, record));
}

function changeOfApplication(modelId: string, uid: string, record: ApplicationRecord): ObservedChange {
  const { operationId, policyId, policyRevision, outcome, reason, time, author } = record;
  const isUnbind = policyRevision === undefined;
  return {
    source: `application/${uid}/${operationId}/${time}`,
    claims: { operationId, targetId: modelId },
    content: {
      ...base,
      time: new Date(time).toISOString(),
      action: isUnbind ? 'binding.unbind' : 'binding.apply',
      code: outcome === 'Failed' ? (reason ?? 'failed') : null,
      author: claimedAuthor(author),
      target: { type: 'model', id: modelId },
      after: isUnbind ? null : { policyId: policyId ?? null, revision: policyRevision, digest: null },
    },
  };
}

/** A policy whose object no longer exists. Kubernetes keeps no author of a deletion. */
export function changeOfDeletion(newest: KnownRevision, now: Date): ObservedChange {
  const { policyId, policy, number, definitionDigest } = newest;
  return {
    source: `deletion/${policyId}/${policy.uid}`,
    content: {
      ...base,
      time: now.toISOString(),
      action: 'policy.delete',
      code: null,
      author: { kind: 'unknown' },
      target: { type: 'policy', id: policyId },
      before: { policyId, revision: number, digest: definitionDigest },
      after: null,
    },
  };
}
