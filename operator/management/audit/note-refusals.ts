import type { RefusedRequest } from '#api/operation';
import { clientClassOf } from '#audit/client-class';
import type { RefusalRecorder } from '#audit/record-refusals';
import { approvalRuleSchema } from '#contracts/approvals';
import type { AuditAction, AuditContent } from '#contracts/audit';
import { newFreezeSchema } from '#contracts/freezes';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { type ControlRight, controlRightSchema } from '#contracts/rights';
import { RelationsModelError } from '#relations/relations-error';
import { tupleText } from '#relations/tuple';
import type { ManagementCaller } from '../access/management-caller.ts';
import { tupleOfRight } from '../access/right-tuples.ts';
import type { ServedOperation } from '../http/served-table.ts';

type Refused = RefusedRequest<ManagementCaller, ManagementErrorCode, ServedOperation>;

/** The action of each operation that writes. All other operations read. */
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

/** Refusals of reads that are recorded: the caller had no identity or no right. */
const refusedReads: ReadonlySet<ManagementErrorCode> = new Set(['unauthenticated', 'permission_denied']);
/**
 * Answers after which the command may still take effect, unless they state the opposite; recovery records its effect.
 */
const undecided: ReadonlySet<ManagementErrorCode> = new Set([
  'resources_unavailable',
  'records_unavailable',
  'idempotency_in_progress',
]);

/** Records each refusal of a command, and of a read that was refused because of identity or right. */
export function createRefusalNotes(recorder: Pick<RefusalRecorder, 'record'>) {
  return async (refused: Refused): Promise<void> => {
    const { operation, code, isDecided, caller, incoming, traceId } = refused;
    const action = commands[operation] ?? 'read';
    if (action === 'read' ? !refusedReads.has(code) : !(isDecided ?? !undecided.has(code))) return;
    await recorder.record({
      action,
      code,
      author: caller?.author ?? { kind: 'unknown' },
      client: clientClassOf(incoming.socket.remoteAddress),
      target: await targetOf(refused),
      traceId,
    });
  };
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

type Target = NonNullable<AuditContent['target']>;

/**
 * The object of the refused command, named as in the entry of an accepted command, in a valid form; other text of a
 * client is omitted.
 */
async function targetOf(refused: Refused): Promise<Target | null> {
  const { operation, code, caller, path } = refused;
  switch (operation) {
    case 'grantRight':
    case 'revokeRight':
    case 'requireApproval':
    case 'releaseApproval':
    case 'setFreeze':
      // Bodies are read of verified subjects within their rate only.
      return caller === undefined || code === 'rate_limited' ? null : targetOfBody(operation, await refused.readBody());
    case 'approveCommand':
      return targetOfId('approval', path['approvalId']);
    case 'removeFreeze':
      return targetOfId('freeze', path['freezeId']);
    default:
      return targetOfId('policy', path['policyId']) ?? targetOfId('model', path['modelId']);
  }
}

function targetOfId(type: Target['type'], text = ''): Target | null {
  return uuidForm.test(text) ? { type, id: text.toLowerCase() } : null;
}

function targetOfBody(operation: ServedOperation, body: unknown): Target | null {
  if (operation === 'grantRight' || operation === 'revokeRight') {
    const right = controlRightSchema.safeParse(body);
    return right.success ? targetOfRight(right.data) : null;
  }
  const about = (operation === 'setFreeze' ? newFreezeSchema : approvalRuleSchema).safeParse(body);
  if (!about.success) return null;
  return 'policyId' in about.data ? targetOfId('policy', about.data.policyId) : targetOfId('model', about.data.modelId);
}

function targetOfRight(right: ControlRight): Target | null {
  try {
    return { type: 'control_plane', id: tupleText(tupleOfRight(right)) };
  } catch (error) {
    if (error instanceof RelationsModelError) return null;
    throw error;
  }
}
