import type { RefusedRequest } from '#api/operation';
import { clientClassOf } from '#audit/client-class';
import type { RefusalRecorder } from '#audit/record-refusals';
import type { AuditAction, AuditContent } from '#contracts/audit';
import type { RetrievalErrorCode } from '#contracts/retrieval-errors';
import type { TenantCaller } from '#identity/tenant-caller';
import { authorOf, operatorAuthor } from '../access/change-author.ts';
import type { InternalOperation, ServiceCaller } from './internal-table.ts';
import type { RetrievalOperation } from './retrieval-table.ts';

type Refused = RefusedRequest<TenantCaller, RetrievalErrorCode, RetrievalOperation>;

/** The action of each operation that changes rights or deletes. Refusals of other operations have no entry. */
const changes: Partial<Record<RetrievalOperation, AuditAction>> = {
  grantReader: 'relation.grant',
  giveGrant: 'relation.grant',
  revokeGrant: 'relation.revoke',
  addMember: 'relation.grant',
  removeMember: 'relation.revoke',
  moveCollection: 'collection.move',
  updateCollection: 'collection.update',
  deleteCollection: 'collection.delete',
  deleteDocument: 'document.delete',
  changeDocumentAcl: 'document.acl',
};

/** Answers after which the change may have taken effect. */
const undecided: ReadonlySet<RetrievalErrorCode> = new Set(['unavailable', 'authz_unavailable']);

/** Records each refusal of a change of rights and of a deletion. */
export function createRefusedChangeNotes(recorder: Pick<RefusalRecorder, 'record'>) {
  return async ({ operation, code, caller, incoming, traceId, path }: Refused): Promise<void> => {
    const action = changes[operation];
    if (action === undefined || undecided.has(code)) return;
    await recorder.record({
      action,
      code,
      author: caller === undefined ? { kind: 'unknown' } : authorOf(caller),
      client: clientClassOf(incoming.socket.remoteAddress),
      target: targetOf(path['collection_id']),
      traceId,
    });
  };
}

type RefusedInternal = RefusedRequest<ServiceCaller, RetrievalErrorCode, InternalOperation>;

const internalActions = {
  ensureCollection: 'collection.update',
  deleteCollection: 'collection.delete',
  releaseCollection: 'collection.update',
} as const satisfies Record<InternalOperation, AuditAction>;

/** Records refused changes on the routes of managers of collections, all of which change rights or delete. */
export function createRefusedManagerNotes(recorder: Pick<RefusalRecorder, 'record'>) {
  return async ({ operation, code, caller, incoming, traceId, path }: RefusedInternal): Promise<void> => {
    if (undecided.has(code)) return;
    await recorder.record({
      action: internalActions[operation],
      code,
      author: caller === undefined ? { kind: 'unknown' } : operatorAuthor,
      client: clientClassOf(incoming.socket.remoteAddress),
      target: targetOf(path['collection_id']),
      traceId,
    });
  };
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The collection of the path; names of collections, documents and groups are text of a client. */
function targetOf(collectionId = ''): AuditContent['target'] {
  return uuidForm.test(collectionId) ? { type: 'collection', id: collectionId.toLowerCase() } : null;
}
