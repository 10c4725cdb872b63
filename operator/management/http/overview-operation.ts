import { type ApiOperation, failure, success } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { Overview } from '#contracts/overview';
import type { ManagementCaller } from '../access/management-caller.ts';
import { roleRight } from '../access/required-right.ts';
import type { Rights } from '../access/rights.ts';
import { partOfOverview } from '../models/read-overview.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';

/** How long a request waits for a change, milliseconds: shorter than the timeouts of proxies. */
const longestWaitMs = 20_000;

/** A route outside of the contract: the state that every replica enforces at this moment. */
export const overviewOperation: ApiOperation<Management, ManagementCaller, ManagementErrorCode, 'getOverview'> = {
  name: 'getOverview',
  method: 'GET',
  path: '/api/v1/overview',
  tag: 'Models',
  summary: 'Read every model with the state of its replicas',
  description:
    'The desired and the served application of each model, the replicas that confirmed it, and the first cause with its remedy. ' +
    `With after, the answer is sent when the mark has changed, or after ${longestWaitMs / 1_000} seconds. ` +
    'A caller that may read only some models or policies gets these models, and which of these policies are being deleted.',
  gates: ['identity', 'query'],
  parameters: [
    {
      name: 'after',
      in: 'query',
      description: 'The mark of the previous answer.',
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
  let scope = await scopeOf(rights, caller);
  for (let hasWaited = false; ; hasWaited = true) {
    const change = service.caches.nextChange();
    const overview = await service.overview({ isOwnOnly: caller.ownOnly === true });
    const left = until - performance.now();
    const isChanged = scope === 'none' || within(overview, scope)?.mark !== query['after'] || left <= 0;
    if (!isChanged && (await change.within(left))) continue;
    // The right may have been revoked during the wait.
    if (!isChanged || hasWaited) scope = await scopeOf(rights, caller, { isAsked: true });
    const shown = within(overview, scope);
    return shown === undefined ? failure('permission_denied') : success(shown);
  }
}

/** Which models and policies the overview shows: all, those with the given ids, or none. */
type Scope = 'all' | 'none' | Parameters<typeof partOfOverview>[1];

/** @param isAsked whether the right to read every model is checked again; the gates checked it before */
async function scopeOf(rights: Rights, caller: ManagementCaller, { isAsked = false } = {}): Promise<Scope> {
  if (caller.ownOnly !== true) return !isAsked || (await rights.has(caller, roleRight('viewer'))) ? 'all' : 'none';
  const [models, policies] = await Promise.all([
    rights.objects(caller, 'viewer', 'model'),
    rights.objects(caller, 'viewer', 'policy'),
  ]);
  return models.length === 0 && policies.length === 0 ? 'none' : { models, policies };
}

function within(overview: Overview, scope: Scope): Overview | undefined {
  if (scope === 'none') return undefined;
  return scope === 'all' ? overview : partOfOverview(overview, scope);
}
