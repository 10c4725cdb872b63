import { type ApiOperation, type Parameter, success } from '#api/operation';
import { countedMinutes } from '#contracts/decision-counts';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { selectDecisions } from '#contracts/select-decisions';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { text, word } from './query-parameters.ts';

type ActivityParameter = Parameter<ManagementErrorCode>;

const limits = { min: 1, max: 1_000, default: 100 } as const;

const parameters: readonly ActivityParameter[] = [
  text('model', 'Only requests to this alias.', 128),
  text('client', 'Only requests with the client key of this name.', 64),
  word('stage', 'Only decisions of this stage.', ['none', 'request', 'response']),
  word('outcome', 'Only decisions with this outcome.', ['passed', 'masked', 'denied', 'check_failed']),
  text('rule', 'Only decisions of the rule with this id.', 128),
  text('requestId', 'Only the request whose response had this x-request-id.', 64),
  {
    name: 'since',
    in: 'query',
    description: 'Only decisions after this time.',
    required: false,
    schema: { type: 'string', format: 'date-time' },
    read: (value) => (/^\d{4}-\d{2}-\d{2}T[\d:.]{5,15}Z$/.test(value) && Date.parse(value) > 0 ? value : undefined),
  },
  {
    name: 'limit',
    in: 'query',
    description: 'Maximum number of decisions in the answer.',
    required: false,
    schema: { type: 'integer', minimum: limits.min, maximum: limits.max, default: limits.default },
    read: (value) => (/^[1-9]\d{0,3}$/.test(value) && Number(value) <= limits.max ? value : undefined),
  },
];

/** A route outside of the contract: the newest decisions of all gateway replicas. */
export const activityOperation: ApiOperation<Management, ManagementCaller, ManagementErrorCode, 'listActivity'> = {
  name: 'listActivity',
  method: 'GET',
  path: '/api/v1/activity',
  tag: 'Activity',
  summary: 'List the newest decisions',
  description:
    'The newest decisions of every gateway replica, newest first, with the rule that decided and without any text. ' +
    'missing names the replicas whose decisions could not be read.',
  gates: ['identity', 'query'],
  parameters,
  success: { status: 200, description: 'What was asked for.', schema: 'Activity', headers: [] },
  errors: [],
  obligations: [],
  run: listActivity,
};

/** A route outside of the contract: the number of decisions in each of the last minutes. */
export const decisionCountsOperation: ApiOperation<
  Management,
  ManagementCaller,
  ManagementErrorCode,
  'listDecisionCounts'
> = {
  name: 'listDecisionCounts',
  method: 'GET',
  path: '/api/v1/decision-counts',
  tag: 'Activity',
  summary: 'Count the decisions of the last hour',
  description:
    `The decisions of all gateway replicas in each of the last ${countedMinutes} minutes, for each alias and outcome. ` +
    'Minutes without a decision are absent. missing names the replicas whose decisions could not be read.',
  gates: ['identity'],
  parameters: [],
  success: { status: 200, description: 'What was asked for.', schema: 'DecisionCounts', headers: [] },
  errors: [],
  obligations: [],
  run: async ({ service }) => success(await service.activity.count()),
};

async function listActivity({ service, query }: ManagementRequest): Promise<ManagementResponse> {
  const { items, missing } = await service.activity.collect();
  const { limit, ...filter } = query;
  return success({ items: selectDecisions(items, filter, Number(limit ?? limits.default)), missing });
}
