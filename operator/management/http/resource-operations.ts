import { type ApiOperation, failure, type Parameter, success } from '#api/operation';
import type { ManagementErrorCode } from '#contracts/management-errors';
import { isKubeError } from '#kube/client/kube-error';
import { type Kind, kinds } from '#resources/kinds';
import type { ManagementCaller } from '../access/management-caller.ts';
import type { Management, ManagementRequest, ManagementResponse } from './management.ts';
import { usualSuccess } from './operation-parts.ts';

export const resourceOperationNames = ['discoverResources', 'listResources', 'getResource'] as const;
type ResourceOperation = (typeof resourceOperationNames)[number];

const maxPage = 500;
/** Page of a kind whose resources can have 1 MiB each: many times as many bytes are in memory until the answer is sent. */
const largePage = 10;

type ShownKind = { readonly kind: Kind; readonly absent: ManagementErrorCode; readonly page: number };

/** Kinds without addresses of providers and processes; each with the error for an absent object and its largest page. */
const shown: ReadonlyMap<string, ShownKind> = new Map([
  [kinds.guardrailPolicy.plural, { kind: kinds.guardrailPolicy, absent: 'policy_not_found', page: largePage }],
  [kinds.policyRevision.plural, { kind: kinds.policyRevision, absent: 'revision_not_found', page: largePage }],
  [kinds.modelBinding.plural, { kind: kinds.modelBinding, absent: 'model_not_found', page: maxPage }],
]);
const plurals = [...shown.keys()];

type ResourceParameter = Parameter<ManagementErrorCode>;
const nameForm = '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$';
const selectorForm = '^[A-Za-z0-9._/-]{1,317}=[A-Za-z0-9._-]{0,63}(,[A-Za-z0-9._/-]{1,317}=[A-Za-z0-9._-]{0,63}){0,7}$';

const plural: ResourceParameter = {
  name: 'plural',
  in: 'path',
  description: 'The plural of the kind.',
  required: true,
  schema: { type: 'string', enum: plurals },
  read: (text) => (shown.has(text) ? text : undefined),
  fault: 'not_found',
};
const name: ResourceParameter = {
  name: 'name',
  in: 'path',
  description: 'The name of the resource.',
  required: true,
  schema: { type: 'string', pattern: nameForm },
  read: (text) => (new RegExp(nameForm).test(text) ? text : undefined),
  fault: 'not_found',
};
const page: readonly ResourceParameter[] = [
  {
    name: 'limit',
    in: 'query',
    description: `Maximum number of resources in the page, ${maxPage} by default. A page has at most ${largePage} policies or revisions.`,
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: maxPage },
    read: (text) => (/^[1-9]\d{0,2}$/.test(text) && Number(text) <= maxPage ? text : undefined),
  },
  {
    name: 'continue',
    in: 'query',
    description: 'The continue token of the previous page.',
    required: false,
    schema: { type: 'string', minLength: 1, maxLength: 4_096 },
    read: (text) => (text.length > 0 && text.length <= 4_096 ? text : undefined),
  },
  {
    name: 'labelSelector',
    in: 'query',
    description: 'Labels that each resource has: key=value, separated by commas.',
    required: false,
    schema: { type: 'string', pattern: selectorForm },
    read: (text) => (new RegExp(selectorForm).test(text) ? text : undefined),
  },
];

const gates = ['identity', 'query', 'path'] as const;

/**
 * Routes outside of the contract: policies, revisions and bindings in their stored form, by the names of the resources.
 * These operations only read; all changes are commands of the contract.
 */
export const resourceOperations: readonly ApiOperation<
  Management,
  ManagementCaller,
  ManagementErrorCode,
  ResourceOperation
>[] = [
  {
    name: 'discoverResources',
    method: 'GET',
    path: '/api/v1/resources',
    tag: 'Resources',
    summary: 'Read the namespace and the kinds',
    description: 'The namespace whose resources this API reads, and the kinds that it shows.',
    gates,
    parameters: [],
    success: usualSuccess('ResourceKinds'),
    errors: [],
    obligations: [],
    run: ({ service }) => success({ namespace: service.client.namespace, kinds: plurals }),
  },
  {
    name: 'listResources',
    method: 'GET',
    path: '/api/v1/resources/{plural}',
    tag: 'Resources',
    summary: 'List the resources of a kind',
    description: 'Ordered by name; all pages show one point in time.',
    gates,
    parameters: [plural, ...page],
    success: usualSuccess('ResourceList'),
    errors: ['not_found', 'cursor_invalid'],
    obligations: [],
    run: listResources,
  },
  {
    name: 'getResource',
    method: 'GET',
    path: '/api/v1/resources/{plural}/{name}',
    tag: 'Resources',
    summary: 'Read one resource',
    description: 'A live read of one policy, revision or binding.',
    gates,
    parameters: [plural, name],
    success: usualSuccess('Resource'),
    errors: ['not_found', 'policy_not_found', 'revision_not_found', 'model_not_found'],
    obligations: [],
    run: getResource,
  },
];

async function listResources({ service, path, query }: ManagementRequest): Promise<ManagementResponse> {
  const found = shown.get(path('plural'));
  if (found === undefined) return failure('not_found');
  const { limit, continue: token, labelSelector } = query;
  try {
    const { items, continue: next } = await service.client.list(found.kind, {
      limit: Math.min(Number(limit ?? maxPage), found.page),
      ...(token === undefined ? {} : { continue: token }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
    });
    return success({ items, continue: next ?? null });
  } catch (error) {
    if (token !== undefined && isKubeError(error, 'gone', 'invalid')) return failure('cursor_invalid');
    throw error;
  }
}

async function getResource({ service, path }: ManagementRequest): Promise<ManagementResponse> {
  const found = shown.get(path('plural'));
  if (found === undefined) return failure('not_found');
  const resource = await service.client.get(found.kind, path('name'));
  return resource === undefined ? failure(found.absent) : success(resource);
}
