import { detailsOf } from '#api/details-of';
import { type ApiOperation, failure, success } from '#api/operation';
import { clientClassOf } from '#audit/client-class';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { readShape } from '#contracts/read-shape';
import { controlRightSchema } from '#contracts/rights';
import { describeFailure } from '#kit/log/describe-failure';
import { RelationsModelError, UndecidedChangeError } from '#relations/relations-error';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { bodyErrors, usualSuccess } from './operation-parts.ts';

export const rightsOperationNames = ['listRights', 'grantRight', 'revokeRight'] as const;
type RightsOperation = (typeof rightsOperationNames)[number];

type Row = ApiOperation<Management, ManagementCaller, ManagementErrorCode, RightsOperation>;

const unavailable = ['records_unavailable'] as const;

/** Routes outside of the contract: the roles on the control plane and their holders. */
export const rightsOperations: readonly Row[] = [
  {
    name: 'listRights',
    method: 'GET',
    path: '/api/v1/rights',
    tag: 'Rights',
    summary: 'List rights',
    description: 'Every role of users and groups: for the control plane, for single policies and for single models.',
    gates: ['identity', 'query'],
    parameters: [],
    success: usualSuccess('ControlRights'),
    errors: unavailable,
    obligations: [],
    run: async ({ service }) => success({ items: await service.rightChanges.list() }),
  },
  {
    name: 'grantRight',
    method: 'POST',
    path: '/api/v1/rights/grant',
    tag: 'Rights',
    summary: 'Grant a right',
    description: 'Grants a role. Granting it again changes nothing.',
    gates: ['identity', 'query', 'body', 'right'],
    parameters: [],
    body: 'ControlRight',
    success: usualSuccess('ChangedRight'),
    errors: [...bodyErrors, ...unavailable],
    obligations: [],
    run: (request) => changeRight(request, 'grant'),
  },
  {
    name: 'revokeRight',
    method: 'POST',
    path: '/api/v1/rights/revoke',
    tag: 'Rights',
    summary: 'Revoke a right',
    description:
      'Revokes a role. After the answer no command that depended on it is accepted on any replica, even after restarts. ' +
      'The right of the last administrator is kept.',
    gates: ['identity', 'query', 'body', 'right'],
    parameters: [],
    body: 'ControlRight',
    success: usualSuccess('ChangedRight'),
    errors: [...bodyErrors, 'last_administrator', ...unavailable],
    obligations: [],
    run: (request) => changeRight(request, 'revoke'),
  },
];

async function changeRight(request: ManagementRequest, action: 'grant' | 'revoke'): Promise<ManagementResponse> {
  const { service, body, caller, incoming, traceId } = request;
  if (body.json === undefined) return failure('invalid_json');
  const right = readShape(controlRightSchema, body.json);
  if (!right.ok) return failure('invalid_body', detailsOf(right.problems));
  const { author, groups } = caller;
  const by = { author, groups, client: clientClassOf(incoming.socket.remoteAddress), traceId };
  try {
    const changed = await service.rightChanges[action](right.value, by);
    switch (changed) {
      case 'no_right':
        return failure('permission_denied');
      case 'undecided':
        return failure('records_unavailable');
      case 'last':
        return failure('last_administrator');
      case 'changed':
      case 'unchanged':
        return success({ right: right.value, changed: changed === 'changed' });
    }
  } catch (error) {
    if (error instanceof UndecidedChangeError) {
      const code = 'authorization_unavailable';
      service.commands.logger.warn('dependency_failed', { code, traceId, failure: describeFailure(error) });
      return { ...failure(code), isDecided: false };
    }
    if (!(error instanceof RelationsModelError)) throw error;
    return failure('invalid_body', [{ path: '/holder', message: 'is too long to be stored' }]);
  }
}
