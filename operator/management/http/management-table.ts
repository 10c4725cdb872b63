import type { ApiOperation, ApiTable, Parameter } from '#api/operation';
import { success } from '#api/operation';
import { readLimit } from '#api/pages';
import { managementLimits } from '#contracts/management';
import { type ManagementErrorCode, managementErrors } from '#contracts/management-errors';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { SchemaName } from './body-schemas.ts';
import { createPolicy } from './create-policy.ts';
import { faults } from './faults.ts';
import { getBinding } from './get-binding.ts';
import { getOperation } from './get-operation.ts';
import { getPolicy } from './get-policy.ts';
import { getRevision } from './get-revision.ts';
import { listPolicies, policyCursors } from './list-policies.ts';
import { listRevisions } from './list-revisions.ts';
import type { Management } from './management.ts';
import { idParameter, modelIdParameter, policyIdParameter, revisionNumber } from './path-ids.ts';
import { replaceBinding } from './replace-binding.ts';
import { replacePolicy } from './replace-policy.ts';

export const operationNames = [
  'listPolicies',
  'createPolicy',
  'getPolicy',
  'replacePolicy',
  'listRevisions',
  'getRevision',
  'listProviders',
  'getBinding',
  'replaceBinding',
  'getOperation',
] as const;
type ManagementOperation = (typeof operationNames)[number];

type Row = ApiOperation<Management, ManagementCaller, ManagementErrorCode, ManagementOperation> & {
  readonly body?: SchemaName;
};
type ManagementParameter = Parameter<ManagementErrorCode>;

const { pageSize, idempotencyKey } = managementLimits;
const limit: ManagementParameter = {
  name: 'limit',
  in: 'query',
  description: 'Maximum number of entries in the page.',
  required: false,
  schema: { type: 'integer', minimum: pageSize.min, maximum: pageSize.max, default: pageSize.default },
  read: (text) => (readLimit(text, pageSize) === undefined ? undefined : text),
};
const key: ManagementParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'The same for every repetition of one command, a new one for a new change; kept for seven days.',
  required: true,
  schema: {
    type: 'string',
    minLength: idempotencyKey.min,
    maxLength: idempotencyKey.max,
    pattern: '^[A-Za-z0-9._~-]+$',
  },
};
const ifMatch = (what: string): ManagementParameter => ({
  name: 'If-Match',
  in: 'header',
  description: `The ETag of the latest read of the ${what}: one strong tag.`,
  required: true,
  schema: { type: 'string' },
});

const readGates = ['identity', 'query', 'path'] as const;
const commandGates = [...readGates, 'body', 'right', 'idempotency_key'] as const;

const readOf = (schema: SchemaName, headers: readonly string[] = []) =>
  ({ status: 200, description: 'What was asked for.', schema, headers }) as const;
const accepted = {
  status: 202,
  description: 'The command was accepted.',
  schema: 'Operation' satisfies SchemaName,
  headers: ['Location'],
} as const;

const command: readonly ManagementErrorCode[] = [
  'unsupported_media_type',
  'body_too_large',
  'request_timeout',
  'idempotency_key_missing',
  'idempotency_key_invalid',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'invalid_json',
  'invalid_body',
  'records_unavailable',
];
const savingQuotas: readonly ManagementErrorCode[] = ['revision_quota_reached', 'storage_quota_reached'];
const conditional: readonly ManagementErrorCode[] = ['if_match_missing', 'if_match_invalid', 'etag_mismatch'];

const operations: readonly Row[] = [
  {
    name: 'listPolicies',
    method: 'GET',
    path: '/api/v1/guardrail-policies',
    tag: 'Policies',
    summary: 'List policies',
    description: 'The newest policy first. Paging returns each policy once, even if policies are created meanwhile.',
    gates: readGates,
    parameters: [
      limit,
      {
        name: 'cursor',
        in: 'query',
        description: 'nextCursor of the previous page; absent for the first page.',
        required: false,
        schema: { type: 'string', minLength: 1, maxLength: 256 },
        read: policyCursors.read,
        fault: 'cursor_invalid',
      },
    ],
    success: readOf('PolicyList'),
    errors: ['cursor_invalid'],
    obligations: [
      'management:policy-list:get',
      'management:policy-list:limit',
      'management:policy-list:cursor',
      'management:policy-list:no-definition',
    ],
    run: listPolicies,
  },
  {
    name: 'createPolicy',
    method: 'POST',
    path: '/api/v1/guardrail-policies',
    tag: 'Policies',
    summary: 'Create a policy',
    description: 'Creates a policy and its first version. It checks nothing before it is applied to a model.',
    gates: commandGates,
    parameters: [key],
    body: 'PolicyCreate',
    success: accepted,
    errors: [...command, 'definition_too_large', 'policy_quota_reached', ...savingQuotas],
    obligations: ['management:policy-create:202', 'management:policy-create:first-version'],
    run: createPolicy,
  },
  {
    name: 'getPolicy',
    method: 'GET',
    path: '/api/v1/guardrail-policies/{policyId}',
    tag: 'Policies',
    summary: 'Read a policy',
    description: 'The latest version with its definition. The ETag is that of the policy.',
    gates: readGates,
    parameters: [policyIdParameter],
    success: readOf('Policy', ['ETag']),
    errors: ['invalid_path_id', 'policy_not_found', 'revision_pending'],
    obligations: ['management:policy-get:latest', 'management:policy-detail:etag'],
    run: getPolicy,
  },
  {
    name: 'replacePolicy',
    method: 'PUT',
    path: '/api/v1/guardrail-policies/{policyId}',
    tag: 'Policies',
    summary: 'Save a new version of a policy',
    description: 'Every PUT creates a new complete version, even if it changes only the status, or nothing.',
    gates: commandGates,
    parameters: [policyIdParameter, key, ifMatch('policy')],
    body: 'PolicyReplace',
    success: accepted,
    errors: [
      ...command,
      ...conditional,
      'invalid_path_id',
      'policy_not_found',
      'approval_required',
      'change_frozen',
      'definition_too_large',
      ...savingQuotas,
      'revision_pending',
    ],
    obligations: ['management:policy-put:202', 'management:put:new-revision', 'management:if-match:latest-etag'],
    run: replacePolicy,
  },
  {
    name: 'listRevisions',
    method: 'GET',
    path: '/api/v1/guardrail-policies/{policyId}/revisions',
    tag: 'Policies',
    summary: 'List the versions of a policy',
    description: 'Newest first. The history of a deleted policy can still be read.',
    gates: readGates,
    parameters: [
      policyIdParameter,
      limit,
      {
        name: 'beforeRevision',
        in: 'query',
        description: 'Only revisions before this one: nextBeforeRevision of the previous page.',
        required: false,
        ...revisionNumber,
      },
    ],
    success: readOf('RevisionList'),
    errors: ['invalid_path_id', 'policy_not_found'],
    obligations: ['management:revisions:get', 'management:revisions:limit', 'management:revisions:before-revision'],
    run: listRevisions,
  },
  {
    name: 'getRevision',
    method: 'GET',
    path: '/api/v1/guardrail-policies/{policyId}/revisions/{revision}',
    tag: 'Policies',
    summary: 'Read one version of a policy',
    description: 'One immutable version.',
    gates: readGates,
    parameters: [
      policyIdParameter,
      { name: 'revision', in: 'path', description: 'The number of the version.', required: true, ...revisionNumber },
    ],
    success: readOf('Policy'),
    errors: ['invalid_path_id', 'policy_not_found', 'revision_not_found', 'revision_purged'],
    obligations: ['management:revision-get:one', 'management:revision:unchanged'],
    run: getRevision,
  },
  {
    name: 'listProviders',
    method: 'GET',
    path: '/api/v1/guardrail-providers',
    tag: 'Providers',
    summary: 'List approved external checks',
    description: 'The configurations that the current environment approves, without addresses and secrets.',
    gates: readGates,
    parameters: [],
    success: readOf('ProviderList'),
    errors: [],
    obligations: ['management:providers-get:approved', 'management:providers-get:environment'],
    run: ({ service }) => success(service.providers()),
  },
  {
    name: 'getBinding',
    method: 'GET',
    path: '/api/v1/models/{modelId}/guardrail-binding',
    tag: 'Models',
    summary: 'Read the guardrail binding of a model',
    description: 'Desired binding, its state and the observed state. The ETag is that of the model.',
    gates: readGates,
    parameters: [modelIdParameter],
    success: readOf('Binding', ['ETag']),
    errors: ['invalid_path_id', 'model_not_found', 'records_unavailable'],
    obligations: ['management:binding-get:selected-policy', 'management:binding-get:etag'],
    run: getBinding,
  },
  {
    name: 'replaceBinding',
    method: 'PUT',
    path: '/api/v1/models/{modelId}/guardrail-binding',
    tag: 'Models',
    summary: 'Apply a version of a policy, or unbind',
    description: '202 does not mean that the protection is active: wait for the operation, then read the state.',
    gates: commandGates,
    parameters: [modelIdParameter, key, ifMatch('model')],
    body: 'BindingWrite',
    success: accepted,
    errors: [
      ...command,
      ...conditional,
      'invalid_path_id',
      'model_not_found',
      'model_deleting',
      'policy_archived',
      'policy_deleting',
      'policy_revision_unknown',
      'policy_revision_purged',
      'approval_required',
      'change_frozen',
      'revision_pending',
    ],
    obligations: [
      'management:binding-put:apply-202',
      'management:binding-put:unbind-202',
      'management:if-match:binding-model-etag',
      'management:archive:new-application-refused',
    ],
    run: replaceBinding,
  },
  {
    name: 'getOperation',
    method: 'GET',
    path: '/api/v1/operations/{operationId}',
    tag: 'Operations',
    summary: 'Read a command operation',
    description: 'The state of a command. succeeded and failed are final.',
    gates: readGates,
    parameters: [idParameter('operationId', 'The id of the operation, a UUID of version 7.')],
    success: readOf('Operation'),
    errors: ['invalid_path_id', 'operation_not_found', 'records_unavailable'],
    obligations: ['management:operation-get:status'],
    run: getOperation,
  },
];

/** The ten operations of platform.control-plane.guardrail-management/v1 (management:version:contract). */
export const managementTable: ApiTable<Management, ManagementCaller, ManagementErrorCode, ManagementOperation> = {
  operations,
  errors: managementErrors,
  everyError: [
    'invalid_query',
    'unauthenticated',
    'permission_denied',
    'rate_limited',
    'expectation_failed',
    'headers_too_large',
    'internal',
    'identity_unavailable',
    'authorization_unavailable',
    'resources_unavailable',
  ],
  faults,
  errorBody: (error) => ({ error }),
  limits: { bodyBytes: managementLimits.bodyBytes, bodyMs: 20_000, idempotencyKey },
};
