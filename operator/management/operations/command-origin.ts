import type { AuditAction, AuditAuthor, AuditContent, AuditState, ClientClass } from '#contracts/audit';
import { readUserSubject } from '#relations/subject';
import type { CommandRecord, OperationEnd } from './command-record.ts';

/** The sender of a command with the reason that it gave, the state before it and the state that it requests. */
export type CommandOrigin = {
  readonly author: AuditAuthor;
  /** Groups of the verified token, as objects of relations; recovery checks the right with them. */
  readonly groups: readonly string[];
  readonly client: ClientClass;
  readonly before: AuditState | null;
  readonly after: AuditState | null;
  /** Absent without a reason, in rows of earlier versions, and after a purge of the revision that the command saved. */
  readonly message?: string | undefined;
};

/** The origin of a row of an earlier version, of which only the owner of its key is known. */
export function originOfKey(keyOwner: string | null): CommandOrigin {
  const pair = keyOwner === null ? undefined : readUserSubject(keyOwner);
  const author: AuditAuthor = pair === undefined ? { kind: 'unknown' } : { kind: 'token', ...pair, actors: [] };
  return { author, groups: [], client: 'none', before: null, after: null };
}

type AuditedRecord = Pick<
  CommandRecord,
  'operationId' | 'kind' | 'target' | 'traceId' | 'origin' | 'result' | 'updatedAt'
>;

/**
 * The entry of a command that took effect on its resource, and another entry if the command overrides a freeze window.
 */
export function acceptedEntries(
  record: AuditedRecord & Pick<CommandRecord, 'overridesFreeze'>,
): readonly AuditContent[] {
  const entry: AuditContent = { ...entryOf(record), outcome: 'accepted', code: null };
  return record.overridesFreeze ? [entry, { ...entry, action: 'freeze.override' }] : [entry];
}

/** The audit entry for the end of a command. A command that changed nothing is recorded as refused. */
export function endedEntry(record: AuditedRecord & Pick<CommandRecord, 'accepted'>, end: OperationEnd): AuditContent {
  const entry = entryOf(record);
  if (end.kind === 'succeeded') return { ...entry, outcome: 'succeeded', code: null, after: stateAfter(record, end) };
  return { ...entry, outcome: record.accepted ? 'failed' : 'refused', code: end.code };
}

function entryOf({ operationId, kind, target, traceId, origin, updatedAt }: AuditedRecord) {
  const { author, client, before, after } = origin;
  const action: AuditAction = kind;
  return {
    time: updatedAt.toISOString(),
    action,
    author,
    client,
    target,
    operationId,
    traceId,
    before,
    after,
    count: 1,
    since: null,
  };
}

/**
 * The intended state, completed with values that are known only at the end: the number of a saved revision, the digest
 * of a loaded bundle.
 */
function stateAfter({ origin }: AuditedRecord, { result }: OperationEnd & { readonly kind: 'succeeded' }): AuditState {
  if ('revision' in result) {
    return { policyId: result.policyId, revision: result.revision, digest: origin.after?.digest ?? null };
  }
  const { policyId, policyRevision, bundleDigest } = result;
  return { policyId, revision: policyRevision, digest: bundleDigest };
}
