import { type ApiOperation, failure, success } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import { roleRight } from '../access/required-right.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';

/** How long a request waits for a change, milliseconds: shorter than the timeouts of proxies. */
const longestWaitMs = 20_000;

/** A route outside of the contract: what every replica enforces at this moment. */
export const overviewOperation: ApiOperation<Management, ManagementCaller, ManagementErrorCode, 'getOverview'> = {
  name: 'getOverview',
  method: 'GET',
  path: '/api/v1/overview',
  tag: 'Models',
  summary: 'Read every model with the state of its replicas',
  description:
    'The desired and the served application of each model, the replicas that confirmed it, and the first cause with its remedy. ' +
    `With after, the answer is sent when the mark has changed, or after ${longestWaitMs / 1_000} seconds.`,
  gates: ['identity', 'query'],
  parameters: [
    {
      name: 'after',
      in: 'query',
      description: 'The mark of the answer before.',
      required: false,
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{22}$' },
      read: (text) => (/^[A-Za-z0-9_-]{22}$/.test(text) ? text : undefined),
    },
  ],
  success: { status: 200, description: 'What was asked for.', schema: 'Overview', headers: [] },
  errors: [],
  obligations: [],
  run: getOverview,
};

async function getOverview({ service, query, caller }: ManagementRequest): Promise<ManagementResponse> {
  const { rights } = service.commands;
  const until = performance.now() + longestWaitMs;
  for (let hasWaited = false; ; hasWaited = true) {
    const change = service.caches.nextChange();
    const overview = await service.overview();
    const left = until - performance.now();
    const isChanged = overview.mark !== query['after'] || left <= 0;
    if (!isChanged && (await change.within(left))) continue;
    // The right may have been revoked during the wait.
    const isAllowed = (isChanged && !hasWaited) || (await rights.has(caller, roleRight('viewer')));
    return isAllowed ? success(overview) : failure('permission_denied');
  }
}
