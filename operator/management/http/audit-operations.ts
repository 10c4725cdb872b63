import { z } from 'zod';
import { type ApiOperation, type Parameter, success } from '#api/operation';
import { createCursors, readLimit } from '#api/pages';
import type { AuditFilter } from '#audit/ports';
import { type AuditAction, type AuditOutcome, auditActions, auditOutcomes } from '#contracts/audit';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { usualSuccess } from './operation-parts.ts';
import { text, word } from './query-parameters.ts';

export const auditOperationNames = ['listAudit', 'listAuditChains'] as const;
type AuditOperation = (typeof auditOperationNames)[number];

type AuditParameter = Parameter<ManagementErrorCode>;

const pageSize = { min: 1, max: 500, default: 100 } as const;
/** A cursor is valid for one order of the list, because it names the last entry of a page. */
const position = z.string().regex(/^[1-9]\d{0,18}$/);
const cursors = {
  newest: createCursors('audit-newest/v1', position),
  oldest: createCursors('audit-oldest/v1', position),
};

function time(name: string, description: string): AuditParameter {
  return {
    name,
    in: 'query',
    description,
    required: false,
    schema: { type: 'string', format: 'date-time' },
    read(value) {
      if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/.test(value)) return undefined;
      const date = new Date(value);
      return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
    },
  };
}

const filters: readonly AuditParameter[] = [
  word('action', 'Only entries about this action.', auditActions),
  word('outcome', 'Only entries with this outcome.', auditOutcomes),
  text('subject', 'Only entries whose author has this claim sub.', 255),
  text('targetId', 'Only entries about the object with this id.', 1_024),
  text('operationId', 'Only entries of this command.', 64),
  text('chain', 'Only entries of this service.', 64),
  time('since', 'Only entries at or after this time.'),
  time('until', 'Only entries before this time.'),
];

const gates = ['identity', 'query'] as const;

/** Routes outside of the contract: the audit log of the installation (docs/design/audit.md). */
export const auditOperations: readonly ApiOperation<
  Management,
  ManagementCaller,
  ManagementErrorCode,
  AuditOperation
>[] = [
  {
    name: 'listAudit',
    method: 'GET',
    path: '/api/v1/audit',
    tag: 'Audit',
    summary: 'List entries of the audit log',
    description:
      'Each command and each refusal, with the author, the target and the outcome. Paging returns each entry that existed ' +
      'at the start once, as long as the filters stay the same.',
    gates,
    parameters: [
      ...filters,
      word('order', 'The newest entry first, or the oldest.', ['newest', 'oldest']),
      {
        name: 'limit',
        in: 'query',
        description: 'Maximum number of entries in the page.',
        required: false,
        schema: { type: 'integer', minimum: pageSize.min, maximum: pageSize.max, default: pageSize.default },
        read: (value) => (readLimit(value, pageSize) === undefined ? undefined : value),
      },
      {
        name: 'cursor',
        in: 'query',
        description: 'nextCursor of the previous page, with the same order; absent for the first page.',
        required: false,
        schema: { type: 'string', minLength: 1, maxLength: 256 },
        read: (value) => (cursors.newest.read(value) ?? cursors.oldest.read(value)) && value,
        fault: 'cursor_invalid',
      },
    ],
    success: usualSuccess('AuditPage'),
    errors: ['cursor_invalid', 'records_unavailable'],
    obligations: [],
    run: listAudit,
  },
  {
    name: 'listAuditChains',
    method: 'GET',
    path: '/api/v1/audit/chains',
    tag: 'Audit',
    summary: 'List the chains of the audit log',
    description:
      'For each service its newest entry, and the last entry that retention removed. With them a client proves the chain.',
    gates,
    parameters: [],
    success: usualSuccess('AuditChains'),
    errors: ['records_unavailable'],
    obligations: [],
    run: async ({ service }) => success({ items: await service.audit.chains() }),
  },
];

async function listAudit({ service, query }: ManagementRequest): Promise<ManagementResponse> {
  const { limit, cursor, order, action, outcome, ...rest } = query;
  const direction = order === 'oldest' ? 'oldest' : 'newest';
  const after = cursor === undefined ? undefined : cursors[direction].read(cursor);
  if (cursor !== undefined && after === undefined) return { kind: 'error', code: 'cursor_invalid' };
  const filter: AuditFilter = {
    ...rest,
    action: action as AuditAction | undefined,
    outcome: outcome as AuditOutcome | undefined,
  };
  const { entries, next } = await service.audit.read({
    filter,
    order: direction,
    limit: readLimit(limit, pageSize) ?? pageSize.default,
    after,
  });
  return success({ items: entries, nextCursor: next === null ? null : cursors[direction].write(next) });
}
