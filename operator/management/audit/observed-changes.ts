import type { AuditAuthor, AuditContent } from '#contracts/audit';
import { idLabel, type Kind, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ApplicationRecord, ModelBinding } from '#resources/model-binding';
import type { KnownRevision } from '../caches/known-revision.ts';
import type { CommandRecord, WrittenGeneration } from '../operations/command-record.ts';
import { operationOfToken } from '../policies/make-policy.ts';

/** A change of the resources that may have come by another way than this API. */
export type ObservedChange = {
  /** Names the change for ever. */
  readonly source: string;
  /** The command of this API that made it, if its token is true. */
  readonly claims?: ClaimedCommand | undefined;
  /** A purge, which is one by this API if the log has its entry with this very time. */
  readonly purge?: ObservedPurge;
  /** The deleted object, of which the API server must have none; with any UID if none is named. */
  readonly deleted?: { readonly kind: Kind; readonly id: string; readonly uid?: string };
  /** Its time is that of the resource: any text that the schema of the resource accepts. */
  readonly content: AuditContent;
};

type ObservedPurge = {
  readonly objectName: string;
  /** The time of the purge as the client states it: any text that the schema of the resource accepts. */
  readonly time: string;
  /** The time by the clock of the server, RFC 3339. */
  readonly seenAt: string | undefined;
};

/** The claims of a token, and the conditions on the command that it names. */
type ClaimedCommand = {
  readonly operationId: string;
  readonly targetId: string;
} & (
  | { readonly kind: 'revision'; readonly written: WrittenGeneration }
  | { readonly kind: 'application'; readonly policyId: string | undefined; readonly revision: number | undefined }
);

/**
 * Whether a command made the change that names it. A client of the resources can copy the token of an earlier command, so
 * that the command must also have written this generation, or have asked for this policy and revision.
 * @param command the command of the token, if it is known
 * @returns undefined while it is not known what the command wrote
 */
export function isMadeBy(claims: ClaimedCommand, command: ClaimingCommand | undefined): boolean | undefined {
  if (command === undefined || command.target.id !== claims.targetId) return false;
  if (claims.kind === 'revision') {
    const { written, state } = command;
    if (written === undefined) return state === 'pending' || state === 'running' ? undefined : false;
    return written.uid === claims.written.uid && written.generation === claims.written.generation;
  }
  const { policyId, revision } = claims;
  if (command.kind === 'binding.unbind') return policyId === undefined && revision === undefined;
  const { after } = command.origin;
  // A command of an earlier version does not contain its request.
  if (after === null) return revision !== undefined;
  return revision === after.revision && (policyId ?? after.policyId) === after.policyId;
}

type ClaimingCommand = Pick<CommandRecord, 'kind' | 'state' | 'target' | 'written'> & {
  readonly origin: Pick<CommandRecord['origin'], 'after'>;
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
  const { uid, generation } = policy;
  const isClaimed = named !== undefined && named.generation === generation;
  return {
    source: `revision/${objectName}/${policy.uid}`,
    claims: isClaimed
      ? { kind: 'revision', operationId: named.operationId, targetId: policyId, written: { uid, generation } }
      : undefined,
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

/** A revision whose text was removed. */
export function changesOfPurge(revision: KnownRevision): readonly ObservedChange[] {
  const { policyId, number, definitionDigest, objectName, policy, purgeTime, purgedBy, purgeSeenAt } = revision;
  if (purgeTime === undefined) return [];
  const state = { policyId, revision: number, digest: definitionDigest };
  return [
    {
      source: `purge/${objectName}/${policy.uid}`,
      purge: { objectName, time: purgeTime, seenAt: purgeSeenAt },
      content: {
        ...base,
        time: purgeTime,
        action: 'revision.purge',
        code: null,
        author: claimedAuthor(purgedBy),
        target: { type: 'revision', id: objectName },
        before: state,
        after: state,
      },
    },
  ];
}

/** The decided applications of a binding. */
export function changesOfBinding({ metadata, status }: Stored<ModelBinding>): readonly ObservedChange[] {
  const modelId = metadata.labels?.[idLabel];
  if (modelId === undefined || modelId === '') return [];
  const applications = status?.applications ?? [];
  return applications.map((record, place) => {
    const change = changeOfApplication(modelId, metadata.uid, record);
    return isRepeated(record, applications.slice(place + 1)) ? { ...change, claims: undefined } : change;
  });
}

/**
 * Whether an earlier application with the token was confirmed: a client that keeps `spec.apply` while it changes the
 * guardrail applies again what a command had applied. The operator, which goes back to a generation, keeps its id.
 */
function isRepeated({ operationId, generationId }: ApplicationRecord, earlier: readonly ApplicationRecord[]): boolean {
  return earlier.some(
    (one) => one.operationId === operationId && one.outcome === 'Applied' && one.generationId !== generationId,
  );
}

function changeOfApplication(modelId: string, uid: string, record: ApplicationRecord): ObservedChange {
  const { operationId, policyId, policyRevision, outcome, reason, time, author } = record;
  const isUnbind = policyRevision === undefined;
  return {
    source: `application/${uid}/${operationId}/${time}`,
    claims: { kind: 'application', operationId, targetId: modelId, policyId, revision: policyRevision },
    content: {
      ...base,
      time,
      action: isUnbind ? 'binding.unbind' : 'binding.apply',
      code: outcome === 'Failed' ? (reason ?? 'failed') : null,
      author: claimedAuthor(author),
      target: { type: 'model', id: modelId },
      after: isUnbind ? null : { policyId: policyId ?? null, revision: policyRevision, digest: null },
    },
  };
}

/** A model whose ModelBinding no longer exists. Kubernetes keeps no author of a deletion. */
export function changeOfModelDeletion(
  source: string,
  { id, uid }: { readonly id: string; readonly uid: string },
  now: Date,
): ObservedChange {
  return {
    source,
    deleted: { kind: kinds.modelBinding, id, uid },
    content: {
      ...base,
      time: now.toISOString(),
      action: 'binding.delete',
      code: null,
      author: { kind: 'unknown' },
      target: { type: 'model', id },
      after: null,
    },
  };
}

/** A policy whose object no longer exists. Kubernetes keeps no author of a deletion. */
export function changeOfDeletion(newest: KnownRevision, now: Date): ObservedChange {
  const { policyId, policy, number, definitionDigest } = newest;
  return {
    source: `deletion/${policyId}/${policy.uid}`,
    deleted: { kind: kinds.guardrailPolicy, id: policyId },
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
