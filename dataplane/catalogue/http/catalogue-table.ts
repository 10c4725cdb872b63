import { type ApiOperation, type ApiTable, failure, success } from '#api/operation';
import { uuidParameter } from '#api/parameters';
import { readGates, writeGates } from '#api/table-parts';
import { catalogueLimits } from '#contracts/catalogue';
import { type CatalogueErrorCode, catalogueErrors } from '#contracts/catalogue-errors';
import type { CatalogueCaller } from '../access/catalogue-caller.ts';
import type { CatalogueRight } from '../access/judge-agents.ts';
import { answerSearchAgents } from './answer-search-agents.ts';
import { type ApiVersion, apiVersions, type Catalogue } from './catalogue.ts';
import type { CatalogueSchema } from './catalogue-schemas.ts';
import { getAgent } from './get-agent.ts';
import { limited } from './limit-requests.ts';
import { listAgents } from './list-agents.ts';
import { filterParameters, pageParametersOfList, personParameters } from './list-parameters.ts';

export const catalogueOperationNames = [
  'listAgents',
  'getAgent',
  'searchAgents',
  'getLiveness',
  'getReadiness',
] as const;
export type CatalogueOperation = (typeof catalogueOperationNames)[number];

type Row = ApiOperation<Catalogue, CatalogueCaller, CatalogueErrorCode, CatalogueOperation> & {
  readonly body?: CatalogueSchema;
  readonly right?: CatalogueRight;
};

const answer = (schema: CatalogueSchema): Row['success'] => ({
  status: 200,
  description: 'The request succeeded.',
  schema,
  headers: [],
});
const agentId = uuidParameter('agentId', 'The id of the agent.');
const everyRead: readonly CatalogueErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'identity_unavailable',
  'authorization_unavailable',
  'database_unavailable',
  'dependency_timeout',
];

function agentOperations(version: ApiVersion): readonly Row[] {
  return [
    {
      name: 'listAgents',
      method: 'GET',
      path: `/api/${version}/agents`,
      tag: 'Agents',
      summary: 'List agents',
      description:
        'The agents that the caller may view at this moment, in a fixed order, in pages that neither repeat nor miss one ' +
        'that stays visible. Only active agents are listed unless another state is asked for.',
      gates: readGates,
      right: 'view',
      parameters: [...filterParameters, ...pageParametersOfList, ...personParameters],
      success: answer('AgentPage'),
      errors: [...everyRead, 'cursor_invalid'],
      obligations: ['catalogue:list:view', 'catalogue:list:only-active', 'catalogue:list:cursor'],
      run: limited(listAgents(version)),
    },
    // This route precedes the route of an agent by id, because `search` is not an id.
    {
      name: 'searchAgents',
      method: 'POST',
      path: `/api/${version}/agents/search`,
      tag: 'Agents',
      summary: 'Search agents',
      description:
        'The agents of a workspace that belong to a query and that the caller may invoke at this moment, best first. Agents ' +
        'that the caller may not invoke change neither the matches nor their order. The text of the query is not stored.',
      gates: writeGates,
      right: 'invoke',
      parameters: personParameters,
      body: 'SearchAgentsRequest',
      success: answer('FoundAgents'),
      errors: [...everyRead, 'unsupported_media_type', 'search_unavailable'],
      obligations: ['catalogue:search:invoke', 'catalogue:search:hybrid', 'catalogue:search-response:matches'],
      run: limited(answerSearchAgents),
    },
    {
      name: 'getAgent',
      method: 'GET',
      path: `/api/${version}/agents/{agentId}`,
      tag: 'Agents',
      summary: 'Read an agent',
      description:
        'One agent that the caller may view. An agent that is hidden is answered like one that does not exist.',
      gates: readGates,
      right: 'view',
      parameters: [agentId, ...personParameters],
      success: answer('Agent'),
      errors: [...everyRead, 'identity_conflict'],
      obligations: ['catalogue:get:view', 'catalogue:get:hidden-same-404'],
      run: limited(getAgent),
    },
  ];
}

const health: Omit<Row, 'name' | 'path' | 'run' | 'summary' | 'description'> = {
  method: 'GET',
  tag: 'Health',
  gates: ['query'],
  public: true,
  parameters: [],
  success: answer('Health'),
  errors: [],
  obligations: [],
};

const healthOperations: readonly Row[] = [
  {
    ...health,
    name: 'getLiveness',
    path: '/health/live',
    summary: 'Read whether the process is alive',
    description: 'Needs no token; who reaches it is decided by the network of the installation.',
    obligations: ['catalogue:health:live'],
    run: () => success({ status: 'ok' }),
  },
  {
    ...health,
    name: 'getReadiness',
    path: '/health/ready',
    summary: 'Read whether the process is ready',
    description: '503 while the database does not answer, before the first complete feed, and during a shutdown.',
    errors: ['not_ready'],
    obligations: ['catalogue:health:ready'],
    run: async ({ service }) =>
      (await service.problems()).length === 0 ? success({ status: 'ok' }) : failure('not_ready'),
  },
];

/** Every operation of the catalogue. No operation creates, changes, deletes, deploys or invokes an agent. */
export const catalogueTable: ApiTable<Catalogue, CatalogueCaller, CatalogueErrorCode, CatalogueOperation> = {
  operations: [...apiVersions.flatMap(agentOperations), ...healthOperations],
  errors: catalogueErrors,
  everyError: ['invalid_request', 'not_found', 'method_not_allowed', 'too_large', 'internal'],
  faults: {
    malformedRequest: 'invalid_request',
    headersTooLarge: 'too_large',
    expectationFailed: 'invalid_request',
    notFound: 'not_found',
    methodNotAllowed: 'method_not_allowed',
    invalidQuery: 'invalid_request',
    invalidPath: 'not_found',
    unsupportedMediaType: 'unsupported_media_type',
    bodyTooLarge: 'too_large',
    requestTimeout: 'invalid_request',
    idempotencyKeyMissing: 'invalid_request',
    idempotencyKeyInvalid: 'invalid_request',
    idempotencyKeyReused: 'invalid_request',
    idempotencyInProgress: 'invalid_request',
    internal: 'internal',
  },
  errorBody: ({ code, message, traceId, details }) => ({ error: { code, message, traceId, details } }),
  limits: { bodyBytes: catalogueLimits.bodyBytes, bodyMs: 10_000, idempotencyKey: { min: 1, max: 1 } },
};
