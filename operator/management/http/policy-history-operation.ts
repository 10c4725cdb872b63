import { type ApiOperation, failure, success } from '#api/operation';
import { readLimit } from '#api/pages';
import { managementLimits } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { PolicyHistory, PolicyHistoryEntry } from '#contracts/policy-history';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { KnownRevision } from '../caches/known-revision.ts';
import { findPolicy } from '../policies/find-policy.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { usualSuccess } from './operation-parts.ts';
import { policyIdParameter, revisionNumber } from './path-ids.ts';

const { pageSize } = managementLimits;

/** A route outside of the contract, whose revisions have no author. */
export const policyHistoryOperation: ApiOperation<
  Management,
  ManagementCaller,
  ManagementErrorCode,
  'listPolicyHistory'
> = {
  name: 'listPolicyHistory',
  method: 'GET',
  path: '/api/v1/policy-histories/{policyId}',
  tag: 'Histories',
  summary: 'List versions of a policy with their authors',
  description: 'Newest first, with author, reason and digest. The history of a deleted policy can still be read.',
  gates: ['identity', 'query', 'path'],
  parameters: [
    policyIdParameter,
    {
      name: 'limit',
      in: 'query',
      description: 'The number of versions of a page.',
      required: false,
      schema: { type: 'integer', minimum: 1, maximum: pageSize.max, default: pageSize.default },
      read: (text) => (readLimit(text, pageSize) === undefined ? undefined : text),
    },
    {
      name: 'beforeRevision',
      in: 'query',
      description: 'Only versions before this one: nextBeforeRevision of the previous page.',
      required: false,
      ...revisionNumber,
    },
  ],
  success: usualSuccess('PolicyHistory'),
  errors: ['invalid_path_id', 'policy_not_found'],
  obligations: [],
  run: listPolicyHistory,
};

async function listPolicyHistory({ service, path, query }: ManagementRequest): Promise<ManagementResponse> {
  const { client, caches } = service;
  const policyId = path('policyId');
  const limit = readLimit(query['limit'], pageSize) ?? 0;
  const before = Number(query['beforeRevision'] ?? Number.POSITIVE_INFINITY);
  const revisions = caches.revisions(policyId);
  if (revisions.length === 0 && (await findPolicy(client, caches, policyId)) === undefined) {
    return failure('policy_not_found');
  }
  const older = revisions.filter(({ number }) => number < before);
  const page = older.slice(0, limit);
  const nextBeforeRevision = older.length > limit ? (page.at(-1)?.number ?? null) : null;
  return success({ policyId, items: page.map(entryOf), nextBeforeRevision } satisfies PolicyHistory);
}

function entryOf(revision: KnownRevision): PolicyHistoryEntry {
  const { number, recordedAt, author = null, message = null, definitionDigest, purgeTime } = revision;
  return {
    revision: number,
    savedAt: recordedAt,
    author,
    message,
    definitionDigest,
    isPurged: purgeTime !== undefined,
  };
}
