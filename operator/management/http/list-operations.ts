import { type ApiOperation, type Parameter, success } from '#api/operation';
import { createCursors, readLimit } from '#api/pages';
import {
  type OperationKind,
  type OperationState,
  operationKinds,
  operationStates,
  resourceIdSchema,
} from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { type ListedOperation, operationPageSize } from '#contracts/operations';
import type { ManagementCaller } from '../access/management-caller.ts';
import { isShown, type ManagementCaches } from '../caches/management-caches.ts';
import { type CommandRecord, operationResource } from '../operations/command-record.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { text, word } from './query-parameters.ts';

const cursors = createCursors('operations/v1');

function id(name: string, description: string): Parameter<ManagementErrorCode> {
  return {
    name,
    in: 'query',
    description,
    required: false,
    schema: { type: 'string', format: 'uuid' },
    read: (value) => (resourceIdSchema.safeParse(value).success ? value.toLowerCase() : undefined),
  };
}

/** A route outside of the contract: who sent which command, and how it ended. */
export const listOperationsOperation: ApiOperation<
  Management,
  ManagementCaller,
  ManagementErrorCode,
  'listOperations'
> = {
  name: 'listOperations',
  method: 'GET',
  path: '/api/v1/operations',
  tag: 'Operations',
  summary: 'List operations',
  description:
    'The newest command first, with its author, request, state, and the reason of a failure. Ended operations are kept for ' +
    '30 days. A caller without the right to read operations gets only the operations of its own commands.',
  gates: ['identity', 'query'],
  parameters: [
    id('operationId', 'Only the operation with this id.'),
    word('kind', 'Only commands of this kind.', operationKinds),
    word('state', 'Only operations in this state.', operationStates),
    id('targetId', 'Only commands on the policy or model with this id.'),
    text('subject', 'Only commands whose author has this claim sub.', 255),
    {
      name: 'limit',
      in: 'query',
      description: 'Maximum number of entries in the page.',
      required: false,
      schema: {
        type: 'integer',
        minimum: operationPageSize.min,
        maximum: operationPageSize.max,
        default: operationPageSize.default,
      },
      read: (value) => (readLimit(value, operationPageSize) === undefined ? undefined : value),
    },
    {
      name: 'cursor',
      in: 'query',
      description: 'nextCursor of the previous page; absent for the first page.',
      required: false,
      schema: { type: 'string', minLength: 1, maxLength: 256 },
      read: cursors.read,
      fault: 'cursor_invalid',
    },
  ],
  success: { status: 200, description: 'What was asked for.', schema: 'OperationPage', headers: [] },
  errors: ['cursor_invalid', 'records_unavailable'],
  obligations: [],
  run: listOperations,
};

async function listOperations({ service, query, caller }: ManagementRequest): Promise<ManagementResponse> {
  const { limit, cursor, kind, state, ...rest } = query;
  const filter = {
    ...rest,
    kind: kind as OperationKind | undefined,
    state: state as OperationState | undefined,
    author: caller.ownOnly === true ? caller.author : undefined,
  };
  const { records, more } = await service.operationLog.page(filter, {
    limit: readLimit(limit, operationPageSize) ?? operationPageSize.default,
    after: cursor,
  });
  const last = records.at(-1);
  return success({
    items: records.map((record) => listedOperation(record, service.caches)),
    nextCursor: more && last !== undefined ? cursors.write(last.operationId) : null,
  });
}

function listedOperation(record: CommandRecord, caches: Pick<ManagementCaches, 'bindings' | 'policies' | 'revisions'>) {
  const { origin, target, overridesFreeze } = record;
  // The revisions of a deleted policy remain, and its name has no link.
  const policyName = (policyId: string): string | null =>
    caches.policies.by('id', policyId).some(isShown) ? (caches.revisions(policyId)[0]?.displayName ?? null) : null;
  const alias = (modelId: string): string | null => caches.bindings.by('id', modelId)[0]?.spec.model.alias ?? null;
  const { policyId = null, revision = null } = origin.after ?? {};
  return {
    ...operationResource(record),
    author: origin.author,
    message: origin.message ?? null,
    targetName: target.type === 'policy' ? policyName(target.id) : alias(target.id),
    wanted: policyId === null ? null : { policyId, policyName: policyName(policyId), revision },
    overridesFreeze,
  } satisfies ListedOperation;
}
