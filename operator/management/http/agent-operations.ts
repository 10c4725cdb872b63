import { type ApiOperation, failure, success } from '#api/operation';
import { uuidParameter } from '#api/parameters';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import {
  isOwnAgent,
  listManagedAgents,
  listVersionsWithoutAgent,
  readManagedAgent,
  readManagedVersion,
} from '../agents/managed-agents.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { usualSuccess } from './operation-parts.ts';

export const managedAgentOperationNames = [
  'listAgents',
  'getAgent',
  'getAgentFlow',
  'listVersionsWithoutAgent',
] as const;
type ManagedAgentOperation = (typeof managedAgentOperationNames)[number];

const agentId = uuidParameter('agentId', 'The id of the agent.');
const gates = ['identity', 'query', 'path'] as const;

/**
 * Routes outside of the contract: the declared and the served versions of an Agent, with reasons. These operations only
 * read.
 */
export const managedAgentOperations: readonly ApiOperation<
  Management,
  ManagementCaller,
  ManagementErrorCode,
  ManagedAgentOperation
>[] = [
  {
    name: 'listAgents',
    method: 'GET',
    path: '/api/v1/agents',
    tag: 'Agents',
    summary: 'List the agents',
    description: 'Every declared agent, with its state and the first cause. A live read.',
    gates: ['identity', 'query'],
    parameters: [],
    success: usualSuccess('ManagedAgentList'),
    errors: [],
    obligations: [],
    run: async ({ service }) => success(await listManagedAgents(service.client, 'portcullis')),
  },
  {
    name: 'getAgent',
    method: 'GET',
    path: '/api/v1/agents/{agentId}',
    tag: 'Agents',
    summary: 'Read an agent with its versions',
    description:
      'The served version, the version on trial, and the first cause with its remedy. The owner of the agent needs no role. A live read.',
    gates,
    parameters: [agentId],
    success: usualSuccess('ManagedAgent'),
    errors: ['not_found'],
    obligations: [],
    run: getAgent,
  },
  {
    name: 'getAgentFlow',
    method: 'GET',
    path: '/api/v1/agents/{agentId}/versions/{versionId}/flow',
    tag: 'Agents',
    summary: 'Read the flow of a version',
    description: 'The source of the flow of a version of the agent. The owner of the agent needs no role. A live read.',
    gates,
    parameters: [agentId, uuidParameter('versionId', 'The id of the version.')],
    success: usualSuccess('ManagedFlow'),
    errors: ['not_found'],
    obligations: [],
    run: getAgentFlow,
  },
  {
    name: 'listVersionsWithoutAgent',
    method: 'GET',
    path: '/api/v1/agent-versions/without-agent',
    tag: 'Agents',
    summary: 'List the versions without an agent',
    description: 'Every version that names an Agent that does not exist. A live read.',
    gates: ['identity', 'query'],
    parameters: [],
    success: usualSuccess('VersionsWithoutAgent'),
    errors: [],
    obligations: [],
    run: async ({ service }) => success(await listVersionsWithoutAgent(service.client)),
  },
];

async function getAgent(request: ManagementRequest): Promise<ManagementResponse> {
  const { service, path, caller } = request;
  if (await isHidden(request)) return failure('permission_denied');
  const reading = { program: 'portcullis', isOwnOnly: caller.ownOnly === true };
  const found = await readManagedAgent(service.client, path('agentId'), reading);
  return found === undefined ? failure('not_found') : success(found);
}

async function getAgentFlow(request: ManagementRequest): Promise<ManagementResponse> {
  const { service, path } = request;
  if (await isHidden(request)) return failure('permission_denied');
  const found = await readManagedVersion(service.client, path('agentId'), path('versionId'));
  if (found?.spec.lowCode === undefined) return failure('not_found');
  const { flow, subflows = [] } = found.spec.lowCode;
  return success({ name: found.metadata.name, flow, subflows });
}

/**
 * Whether an agent is hidden. Without the right to view, a caller reads only its own agents: the agent of another owner
 * and an absent agent get the same refusal.
 */
async function isHidden({ service, path, caller }: ManagementRequest): Promise<boolean> {
  if (caller.ownOnly !== true) return false;
  const asking = { author: caller.author, persons: service.developmentPersons };
  return !(await isOwnAgent(service.client, path('agentId'), asking));
}
