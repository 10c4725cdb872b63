import { type ApiOperation, failure, success } from '#api/operation';
import { maxRevision } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { maxDiffBytes, type RevisionDiff } from '#contracts/revision-diff';
import { revisionDiff } from '#diagnosis/revision-diff';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { isPurged } from '#resources/purged-revision';
import { storedBytes } from '../../revisions/fits-into-revision.ts';
import type { ManagementCaller } from '../access/management-caller.ts';
import { findPolicy } from '../policies/find-policy.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { policyIdParameter, revisionNumber } from './path-ids.ts';

/** A route outside of the contract: the difference of two versions, as `portcullis diff` shows it. */
export const revisionDiffOperation: ApiOperation<Management, ManagementCaller, ManagementErrorCode, 'getRevisionDiff'> =
  {
    name: 'getRevisionDiff',
    method: 'GET',
    path: '/api/v1/policy-diffs/{policyId}',
    tag: 'Differences',
    summary: 'Compare two versions of a policy',
    description: 'The difference of two versions as YAML. The history of a deleted policy can still be compared.',
    gates: ['identity', 'query', 'path'],
    parameters: [
      policyIdParameter,
      {
        name: 'from',
        in: 'query',
        description: 'The number of the first version; the one before the second when absent.',
        required: false,
        ...revisionNumber,
      },
      {
        name: 'to',
        in: 'query',
        description: 'The number of the second version; the newest when absent.',
        required: false,
        ...revisionNumber,
      },
    ],
    success: { status: 200, description: 'The difference.', schema: 'RevisionDiff', headers: [] },
    errors: ['invalid_path_id', 'policy_not_found', 'revision_not_found', 'revision_purged', 'diff_too_large'],
    obligations: [],
    run: getRevisionDiff,
  };

async function getRevisionDiff({ service, path, query }: ManagementRequest): Promise<ManagementResponse> {
  const id = path('policyId');
  const { client, caches } = service;
  const newest = caches.revisions(id)[0]?.number;
  const to = query['to'] === undefined ? newest : Number(query['to']);
  if (to === undefined) {
    return failure((await findPolicy(client, caches, id)) === undefined ? 'policy_not_found' : 'revision_not_found');
  }
  const from = query['from'] === undefined ? to - 1 : Number(query['from']);
  const read = (number: number): Promise<Stored<PolicyRevision> | undefined> =>
    number < 1 || number > maxRevision
      ? Promise.resolve(undefined)
      : client.get<PolicyRevision>(kinds.policyRevision, `${id}-${number}`);
  const [before, after] = await Promise.all([read(from), read(to)]);
  if (before === undefined || after === undefined) {
    const isKnown = newest !== undefined || (await findPolicy(client, caches, id)) !== undefined;
    return failure(isKnown ? 'revision_not_found' : 'policy_not_found');
  }
  if (isPurged(before) || isPurged(after)) return failure('revision_purged');
  if (sizeOf(before) + sizeOf(after) > maxDiffBytes) return failure('diff_too_large');
  const diff = revisionDiff(before, after);
  return success({ policyId: id, from, to, isSame: diff === '', diff } satisfies RevisionDiff);
}

function sizeOf({ spec }: Stored<PolicyRevision>): number {
  return storedBytes(spec.definition, spec.tests);
}
