import type { RefusedRequest } from '#api/operation';
import { clientClassOf } from '#audit/client-class';
import type { RefusalRecorder } from '#audit/record-refusals';
import type { AuditAction, AuditContent } from '#contracts/audit';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { ServedOperation } from '../http/served-table.ts';

type Refused = RefusedRequest<ManagementCaller, ManagementErrorCode, ServedOperation>;

/** The action of each operation that writes. Every other one reads. */
const commands: Partial<Record<ServedOperation, AuditAction>> = {
  createPolicy: 'policy.create',
  replacePolicy: 'policy.update',
  replaceBinding: 'binding.write',
  grantRight: 'administrator.grant',
  revokeRight: 'administrator.revoke',
  purgeRevision: 'revision.purge',
  approveCommand: 'approval.grant',
  requireApproval: 'approval.require',
  releaseApproval: 'approval.release',
  setFreeze: 'freeze.set',
  removeFreeze: 'freeze.remove',
};

/** Refusals of reads that are recorded: who asked had no identity or no right. */
const refusedReads: ReadonlySet<ManagementErrorCode> = new Set(['unauthenticated', 'permission_denied']);
/** Answers after which the command may still take effect, if they do not say otherwise; recovery records its effect. */
const undecided: ReadonlySet<ManagementErrorCode> = new Set([
  'resources_unavailable',
  'records_unavailable',
  'idempotency_in_progress',
]);

/** Records each refusal of a command, and of a read that was refused because of identity or right. */
export function createRefusalNotes(recorder: Pick<RefusalRecorder, 'record'>) {
  return async ({ operation, code, isDecided, caller, incoming, traceId, path }: Refused): Promise<void> => {
    const action = commands[operation] ?? 'read';
    if (action === 'read' ? !refusedReads.has(code) : !(isDecided ?? !undecided.has(code))) return;
    await recorder.record({
      action,
      code,
      author: caller?.author ?? { kind: 'unknown' },
      client: clientClassOf(incoming.socket.remoteAddress),
      target: targetOf(path),
      traceId,
    });
  };
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The policy or model of the path; other path parameters are text of a client. */
function targetOf({ policyId, modelId }: Readonly<Record<string, string>>): AuditContent['target'] {
  const id = (policyId ?? modelId ?? '').toLowerCase();
  if (!uuidForm.test(id)) return null;
  return { type: policyId === undefined ? 'model' : 'policy', id };
}
