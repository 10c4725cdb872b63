import { type AuditAuthor, type AuditContent, type AuditState, auditStateSchema } from '#contracts/audit';
import { changeNote } from '#kube/client/change-author';
import { idLabel, type Kind, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ApplicationRecord, ModelBinding } from '#resources/model-binding';
import type { CachedPolicy } from '../../caches/cached-policy.ts';
import type { KnownRevision } from '../caches/known-revision.ts';
import type { CommandRecord, WrittenGeneration } from '../operations/command-record.ts';
import { operationOfToken } from '../policies/make-policy.ts';
import { sourceOfDeletion } from './remember-objects.ts';

/** A change of the resources that may have been made without this API. */
export type ObservedChange = {
  /** Identifies the change permanently. */
  readonly source: string;
  /** The command of this API that made it, if its token is true. */
  readonly claims?: ClaimedCommand | undefined;
  /** A purge. It was made by this API if the log has its entry with exactly this time. */
  readonly purge?: ObservedPurge;
  /** The deleted object, which the API server must not have. */
  readonly deleted?: { readonly kind: Kind; readonly id: string; readonly uid: string };
  /** The content of the entry. Its time comes from the resource: any text that the schema of the resource accepts. */
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
  | { readonly kind: 'revision'; readonly number: number; readonly written: WrittenGeneration }
  | ({
      readonly kind: 'application';
      readonly revision: number | undefined;
      /** Whether an earlier application with the token also failed. */
      readonly failedBefore: boolean;
    } & Pick<ApplicationRecord, 'policyId' | 'generationId' | 'outcome' | 'time'>)
);

/**
 * Whether a command made the change that names this command. A client of the resources can copy the token of an earlier
 * command, so that the command must also have written this generation and ended with this revision, or have asked for
 * this policy and revision and ended with this application.
 * @param command the command of the token, if it is known
 * @returns undefined while it is not known what the command wrote or how it ended
 */
export function isMadeBy(claims: ClaimedCommand, command: ClaimingCommand | undefined): boolean | undefined {
  if (command === undefined || command.target.id !== claims.targetId) return false;
  if (claims.kind === 'application') return isAskedBy(claims, command) ? isEndOf(claims, command) : false;
  const { written, result } = command;
  const isWritten = written?.uid === claims.written.uid && written.generation === claims.written.generation;
  if (isOpen(command)) return written === undefined || isWritten ? undefined : false;
  return isWritten && result !== undefined && 'revision' in result && result.revision === claims.number;
}

type ClaimedApplication = ClaimedCommand & { readonly kind: 'application' };

function isOpen({ state }: Pick<ClaimingCommand, 'state'>): boolean {
  return state === 'pending' || state === 'running';
}

function isAskedBy({ policyId, revision }: ClaimedApplication, { kind, origin }: ClaimingCommand): boolean {
  if (kind === 'binding.unbind') return policyId === undefined && revision === undefined;
  // A command of an earlier version does not contain its request.
  if (origin.after === null) return revision !== undefined;
  return revision === origin.after.revision && (policyId ?? origin.after.policyId) === origin.after.policyId;
}

/**
 * Whether an application is the outcome of a command. If the command failed and the operator applies it later, because
 * a dependency appeared, that application is not the outcome of the command and gets an entry: otherwise the last entry
 * of the log would be the failure.
 */
function isEndOf(
  { outcome, generationId, time, failedBefore }: ClaimedApplication,
  command: ClaimingCommand,
): boolean | undefined {
  const { accepted, state, result, updatedAt } = command;
  if (isOpen(command)) return undefined;
  const isBeforeEnd = Date.parse(time) <= updatedAt.getTime();
  if (state === 'failed') return accepted && outcome === 'Failed' && (!failedBefore || isBeforeEnd);
  const ended = result !== undefined && 'generationId' in result ? result.generationId : null;
  if (outcome === 'Applied' || generationId !== undefined) return (generationId ?? null) === ended;
  // The application failed earlier because a dependency was missing, and the operator applied it before the command
  // ended.
  return isBeforeEnd;
}

type ClaimingCommand = Pick<
  CommandRecord,
  'kind' | 'state' | 'accepted' | 'target' | 'written' | 'result' | 'updatedAt'
> & {
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

/** The author of a change as the resources name them. */
function claimedAuthor(author: string | undefined): AuditAuthor {
  return author === undefined ? { kind: 'unknown' } : { kind: 'claimed', name: author };
}

/** A name for the change that made a revision, computed without reading the rest of the revision. */
export function sourceOfRevision({ objectName, policy }: KnownRevision): string {
  return `revision/${objectName}/${policy.uid}`;
}

/** A recorded revision: a saved state of a policy. @param earlier the revision before it */
export function changeOfRevision(revision: KnownRevision, earlier: KnownRevision | undefined): ObservedChange {
  const { recordedAt, policyId, number, token, policy, author } = revision;
  const named = operationOfToken(token);
  const { uid, generation } = policy;
  const isClaimed = named !== undefined && named.generation === generation;
  return {
    source: sourceOfRevision(revision),
    claims: isClaimed
      ? { kind: 'revision', number, operationId: named.operationId, targetId: policyId, written: { uid, generation } }
      : undefined,
    content: {
      ...base,
      time: recordedAt,
      action: 'policy.record',
      code: null,
      author: claimedAuthor(author),
      target: { type: 'policy', id: policyId },
      // A fault of the earlier revision does not prevent the entry of this revision.
      before:
        earlier === undefined ? null : { ...stateOfRevision(earlier), digest: validDigest(earlier.definitionDigest) },
      after: stateOfRevision(revision),
    },
  };
}

function validDigest(digest: string | undefined): string | null {
  return auditStateSchema.shape.digest.safeParse(digest).data ?? null;
}

function stateOfRevision({ policyId, number, definitionDigest }: KnownRevision): AuditState {
  return { policyId, revision: number, digest: definitionDigest };
}

/** A revision whose text was removed. */
export function changesOfPurge(revision: KnownRevision): readonly ObservedChange[] {
  const { objectName, policy, purgeTime, purgedBy, purgeSeenAt } = revision;
  if (purgeTime === undefined) return [];
  const state = stateOfRevision(revision);
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
  const { applications = [], pinned } = status ?? {};
  const stateOf = (record: ApplicationRecord | undefined) => stateOfApplication(record, pinned);
  return applications.map((record, place) => {
    const earlier = applications.slice(place + 1);
    const before = stateOf(earlier.find(({ outcome }) => outcome === 'Applied'));
    const content = { before, after: stateOf(record) };
    const ofToken = earlier.filter(({ operationId }) => operationId === record.operationId);
    return changeOfApplication({ modelId, uid: metadata.uid }, record, ofToken, content);
  });
}

/** The digest is known of the application that serves requests. */
function stateOfApplication(
  record: ApplicationRecord | undefined,
  pinned: NonNullable<ModelBinding['status']>['pinned'],
): AuditState | null {
  if (record?.policyRevision === undefined) return null;
  const { policyId = null, policyRevision: revision, generationId } = record;
  const isPinned = generationId !== undefined && pinned?.generationId === generationId;
  return { policyId, revision, digest: isPinned ? validDigest(pinned.digest) : null };
}

/**
 * @param ofToken earlier applications with the same token. If one of them was confirmed, a client has kept `spec.apply`
 * while it changed the guardrail, or has returned to the content that a command had applied.
 */
function changeOfApplication(
  { modelId, uid }: { readonly modelId: string; readonly uid: string },
  record: ApplicationRecord,
  ofToken: readonly ApplicationRecord[],
  states: Pick<AuditContent, 'before' | 'after'>,
): ObservedChange {
  const { operationId, policyRevision, outcome, reason, time, author } = record;
  const isRepeated = ofToken.some((one) => one.outcome === 'Applied');
  const failedBefore = ofToken.some((one) => one.outcome === 'Failed');
  return {
    source: `application/${uid}/${operationId}/${time}`,
    claims: isRepeated
      ? undefined
      : { ...record, kind: 'application', targetId: modelId, revision: policyRevision, failedBefore },
    content: {
      ...base,
      time,
      action: policyRevision === undefined ? 'binding.unbind' : 'binding.apply',
      code: outcome === 'Failed' ? (reason ?? 'failed') : null,
      author: claimedAuthor(author),
      target: { type: 'model', id: modelId },
      ...states,
    },
  };
}

/** A model whose ModelBinding no longer exists. Kubernetes keeps no author of a deletion. */
export function changeOfModelDeletion(
  { id, uid }: { readonly id: string; readonly uid: string },
  now: Date,
): ObservedChange {
  return {
    source: sourceOfDeletion('model', { id, uid }),
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

/** A policy whose object no longer exists. Kubernetes keeps no author of a deletion. @param newest its newest revision */
export function changeOfDeletion(
  { id, uid }: { readonly id: string; readonly uid: string },
  newest: KnownRevision | undefined,
  now: Date,
): ObservedChange {
  return {
    source: sourceOfDeletion('policy', { id, uid }),
    deleted: { kind: kinds.guardrailPolicy, id, uid },
    content: {
      ...base,
      time: now.toISOString(),
      action: 'policy.delete',
      code: null,
      author: { kind: 'unknown' },
      target: { type: 'policy', id },
      before: newest === undefined ? null : stateOfRevision(newest),
      after: null,
    },
  };
}

/**
 * A policy that exists again, with another UID and the content of its newest revision: in this case no revision is
 * recorded.
 * @param revisions the revisions of the policy
 */
export function changesOfReturn(
  { metadata, status }: Stored<CachedPolicy>,
  revisions: readonly KnownRevision[],
): readonly ObservedChange[] {
  const { uid, generation, creationTimestamp } = metadata;
  const standing = revisions.find(({ number }) => number === status?.latestRevision?.number);
  const isSettled = status?.observedGeneration === generation && standing !== undefined;
  if (!isSettled || revisions.some(({ policy }) => policy.uid === uid)) return [];
  const { policyId } = standing;
  return [
    {
      source: `return/${policyId}/${uid}`,
      content: {
        ...base,
        time: creationTimestamp,
        action: 'policy.record',
        code: null,
        author: claimedAuthor(changeNote(metadata).author),
        target: { type: 'policy', id: policyId },
        after: stateOfRevision(standing),
      },
    },
  ];
}
