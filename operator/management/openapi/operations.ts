import { managementLimits } from '#contracts/management';
import type { ManagementErrorCode } from '#contracts/management-errors';
import type { OperationName } from '../metrics.ts';
import type { SchemaName } from './schemas.ts';

type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
};

export type OperationText = {
  readonly path: string;
  readonly method: 'get' | 'post' | 'put';
  readonly tag: 'Policies' | 'Providers' | 'Models' | 'Operations';
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  readonly body?: SchemaName;
  readonly answer: { readonly status: 200 | 202; readonly schema: SchemaName; readonly etag: boolean };
  /** Beside those that every operation has. */
  readonly errors: readonly ManagementErrorCode[];
};

const uuidv7 = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$';
const id = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  description,
  required: true,
  schema: { type: 'string', format: 'uuid', pattern: uuidv7 },
});
const policyId = id('policyId', 'The id of the policy, a UUID of version 7.');
const modelId = id('modelId', 'The id of the model, a UUID of version 7.');
const revisionSchema = { type: 'integer', minimum: 1, maximum: 2_147_483_647 };
const { pageSize, idempotencyKey } = managementLimits;
const limit: Parameter = {
  name: 'limit',
  in: 'query',
  description: 'The most entries of the page.',
  required: false,
  schema: { type: 'integer', minimum: pageSize.min, maximum: pageSize.max, default: pageSize.default },
};
const key: Parameter = {
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
const ifMatch = (what: string): Parameter => ({
  name: 'If-Match',
  in: 'header',
  description: `The ETag of the latest read of the ${what}: one strong tag.`,
  required: true,
  schema: { type: 'string' },
});

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
const conditional: readonly ManagementErrorCode[] = ['if_match_missing', 'if_match_invalid', 'etag_mismatch'];

/** What the document says about each operation. */
export const operationTexts: Readonly<Record<OperationName, OperationText>> = {
  listPolicies: {
    path: '/api/v1/guardrail-policies',
    method: 'get',
    tag: 'Policies',
    summary: 'List policies',
    description: 'The newest policy first. A walk visits each policy once, whatever is made meanwhile.',
    parameters: [
      limit,
      {
        name: 'cursor',
        in: 'query',
        description: 'nextCursor of the page before; absent for the first page.',
        required: false,
        schema: { type: 'string', minLength: 1, maxLength: 256 },
      },
    ],
    answer: { status: 200, schema: 'PolicyList', etag: false },
    errors: ['cursor_invalid'],
  },
  createPolicy: {
    path: '/api/v1/guardrail-policies',
    method: 'post',
    tag: 'Policies',
    summary: 'Create a policy',
    description: 'Creates a policy and its first version. Nothing is checked by it before it is applied to a model.',
    parameters: [key],
    body: 'PolicyCreate',
    answer: { status: 202, schema: 'Operation', etag: false },
    errors: [...command, 'definition_too_large'],
  },
  getPolicy: {
    path: '/api/v1/guardrail-policies/{policyId}',
    method: 'get',
    tag: 'Policies',
    summary: 'Read a policy',
    description: 'The latest version with its definition. The ETag is that of the policy.',
    parameters: [policyId],
    answer: { status: 200, schema: 'Policy', etag: true },
    errors: ['invalid_path_id', 'policy_not_found', 'revision_pending'],
  },
  replacePolicy: {
    path: '/api/v1/guardrail-policies/{policyId}',
    method: 'put',
    tag: 'Policies',
    summary: 'Save a new version of a policy',
    description: 'Every PUT makes a new complete version, also one that changes only the status, or nothing.',
    parameters: [policyId, key, ifMatch('policy')],
    body: 'PolicyReplace',
    answer: { status: 202, schema: 'Operation', etag: false },
    errors: [
      ...command,
      ...conditional,
      'invalid_path_id',
      'policy_not_found',
      'policy_deleting',
      'definition_too_large',
      'revision_pending',
    ],
  },
  listRevisions: {
    path: '/api/v1/guardrail-policies/{policyId}/revisions',
    method: 'get',
    tag: 'Policies',
    summary: 'List the versions of a policy',
    description: 'Newest first. The history of a deleted policy can still be read.',
    parameters: [
      policyId,
      limit,
      {
        name: 'beforeRevision',
        in: 'query',
        description: 'Only revisions before this one: nextBeforeRevision of the page before.',
        required: false,
        schema: revisionSchema,
      },
    ],
    answer: { status: 200, schema: 'RevisionList', etag: false },
    errors: ['invalid_path_id', 'policy_not_found'],
  },
  getRevision: {
    path: '/api/v1/guardrail-policies/{policyId}/revisions/{revision}',
    method: 'get',
    tag: 'Policies',
    summary: 'Read one version of a policy',
    description: 'One immutable version.',
    parameters: [
      policyId,
      {
        name: 'revision',
        in: 'path',
        description: 'The number of the version.',
        required: true,
        schema: revisionSchema,
      },
    ],
    answer: { status: 200, schema: 'Policy', etag: false },
    errors: ['invalid_path_id', 'policy_not_found', 'revision_not_found'],
  },
  listProviders: {
    path: '/api/v1/guardrail-providers',
    method: 'get',
    tag: 'Providers',
    summary: 'List approved external checks',
    description: 'The configurations that the current environment approves, without addresses and secrets.',
    parameters: [],
    answer: { status: 200, schema: 'ProviderList', etag: false },
    errors: [],
  },
  getBinding: {
    path: '/api/v1/models/{modelId}/guardrail-binding',
    method: 'get',
    tag: 'Models',
    summary: 'Read the guardrail binding of a model',
    description: 'What is wanted, its state, and what was observed. The ETag is that of the model.',
    parameters: [modelId],
    answer: { status: 200, schema: 'Binding', etag: true },
    errors: ['invalid_path_id', 'model_not_found', 'records_unavailable'],
  },
  replaceBinding: {
    path: '/api/v1/models/{modelId}/guardrail-binding',
    method: 'put',
    tag: 'Models',
    summary: 'Apply a version of a policy, or unbind',
    description: '202 does not mean that the protection is active: wait for the operation, then read the state.',
    parameters: [modelId, key, ifMatch('model')],
    body: 'BindingWrite',
    answer: { status: 202, schema: 'Operation', etag: false },
    errors: [
      ...command,
      ...conditional,
      'invalid_path_id',
      'model_not_found',
      'model_deleting',
      'policy_archived',
      'policy_deleting',
      'policy_revision_unknown',
      'revision_pending',
    ],
  },
  getOperation: {
    path: '/api/v1/operations/{operationId}',
    method: 'get',
    tag: 'Operations',
    summary: 'Read a command operation',
    description: 'How far a command got. succeeded and failed are final.',
    parameters: [id('operationId', 'The id of the operation, a UUID of version 7.')],
    answer: { status: 200, schema: 'Operation', etag: false },
    errors: ['invalid_path_id', 'operation_not_found', 'records_unavailable'],
  },
};

/** Errors of every operation. */
export const everyError: readonly ManagementErrorCode[] = [
  'invalid_query',
  'unauthenticated',
  'permission_denied',
  'expectation_failed',
  'headers_too_large',
  'internal',
  'identity_unavailable',
  'authorization_unavailable',
  'resources_unavailable',
];
