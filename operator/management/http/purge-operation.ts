import { type ApiOperation, failure, success } from '#api/operation';
import { clientClassOf } from '#audit/client-class';
import { maxRevision } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import { findPolicy } from '../policies/find-policy.ts';
import { deniedByServer } from './faults.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { policyIdParameter, revisionNumber } from './path-ids.ts';

/** Maximum number of uses that an answer names. */
const namedUses = 20;

/** A route outside of the contract: removes the text of one version that contains a secret or personal data. */
export const purgeOperation: ApiOperation<Management, ManagementCaller, ManagementErrorCode, 'purgeRevision'> = {
  name: 'purgeRevision',
  method: 'POST',
  path: '/api/v1/policy-purges/{policyId}/{revision}',
  tag: 'Purges',
  summary: 'Remove the text of one version',
  description:
    'Permanently removes name, description, definition, tests, refusal text and message of a version. Its number, digest ' +
    'and author stay. A version that is applied, is named or is the newest of its policy is refused; details name each use.',
  gates: ['identity', 'query', 'path'],
  parameters: [
    policyIdParameter,
    { name: 'revision', in: 'path', description: 'The number of the version.', required: true, ...revisionNumber },
  ],
  success: { status: 200, description: 'The version without its text.', schema: 'RevisionPurge', headers: [] },
  errors: ['invalid_path_id', 'policy_not_found', 'revision_not_found', 'revision_in_use', 'records_unavailable'],
  obligations: [],
  run: purgeRevision,
};

async function purgeRevision(request: ManagementRequest): Promise<ManagementResponse> {
  const { service, path, caller, incoming, traceId } = request;
  const { client, caches } = service;
  const policyId = path('policyId');
  const number = Number(path('revision'));
  const { author, groups } = caller;
  const by = { author, groups, client: clientClassOf(incoming.socket.remoteAddress), traceId };
  const result =
    number > maxRevision ? ({ kind: 'unknown' } as const) : await service.purges.purge(policyId, number, by);
  switch (result.kind) {
    case 'purged':
      return success(result.purge);
    case 'no_right':
      return failure('permission_denied');
    case 'denied':
      return deniedByServer;
    case 'in_use': {
      const details = result.uses.map(({ plural, name, why }) => ({ path: `/${plural}/${name}`, message: why }));
      return failure('revision_in_use', details.slice(0, namedUses));
    }
    case 'unknown': {
      const isKnown =
        caches.revisions(policyId).length > 0 || (await findPolicy(client, caches, policyId)) !== undefined;
      return failure(isKnown ? 'revision_not_found' : 'policy_not_found');
    }
  }
}
