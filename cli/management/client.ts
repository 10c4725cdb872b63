import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import { type DryRunResult, dryRunResultSchema } from '#contracts/dry-run';
import { overrideFreezeHeader } from '#contracts/freezes';
import {
  type BindingRead,
  type BindingWrite,
  bindingReadSchema,
  type OperationResource,
  operationSchema,
  type PolicyCreate,
  type PolicyDetail,
  type PolicyReplace,
  type ProviderList,
  policyDetailSchema,
  policyListSchema,
  providerListSchema,
  revisionListSchema,
} from '#contracts/management';
import { type Overview, overviewSchema } from '#contracts/overview';
import { type RevisionDiff, revisionDiffSchema } from '#contracts/revision-diff';
import { changeMessageHeader } from '#resources/change-note';
import { ManagementAnswerError } from './management-error.ts';
import { type ManagementConnection, type ReceivedResponse, sendRequest } from './send-request.ts';

type PolicyList = z.output<typeof policyListSchema>;
type RevisionList = z.output<typeof revisionListSchema>;

/** A resource with its ETag, which a change sends as If-Match. */
type Tagged<T> = { readonly value: T; readonly etag: string };

/** Options of every command. A repeated command has the same key. */
type CommandOptions = {
  /** The idempotency key: 16 to 128 of A-Z, a-z, 0-9, dot, underscore, tilde and hyphen; a new key if absent. */
  readonly idempotencyKey?: string;
  /** Reason of the change: one line of at most 512 characters. */
  readonly message?: string;
  /** Whether the command takes effect even in a freeze window. */
  readonly overridesFreeze?: true;
};
type DryRunOptions = Pick<CommandOptions, 'overridesFreeze'>;
type ChangeOptions = CommandOptions & { readonly etag: string };

/**
 * The policy management API, one method for each route. Every answer is validated; a command returns its accepted
 * operation. All methods throw ManagementApiError, ManagementUnreachableError and ManagementAnswerError.
 */
export type ManagementClient = {
  readonly origin: string;
  listPolicies(page?: { readonly limit?: number; readonly cursor?: string }): Promise<PolicyList>;
  createPolicy(policy: PolicyCreate, options?: CommandOptions): Promise<OperationResource>;
  getPolicy(policyId: string): Promise<Tagged<PolicyDetail>>;
  replacePolicy(policyId: string, policy: PolicyReplace, options: ChangeOptions): Promise<OperationResource>;
  listRevisions(
    policyId: string,
    page?: { readonly limit?: number; readonly beforeRevision?: number },
  ): Promise<RevisionList>;
  getRevision(policyId: string, revision: number): Promise<PolicyDetail>;
  listProviders(): Promise<ProviderList>;
  getBinding(modelId: string): Promise<Tagged<BindingRead>>;
  replaceBinding(modelId: string, binding: BindingWrite, options: ChangeOptions): Promise<OperationResource>;
  getOperation(operationId: string): Promise<OperationResource>;
  getOverview(): Promise<Overview>;
  getRevisionDiff(policyId: string, from: number, to: number): Promise<RevisionDiff>;
  /** The dry runs of createPolicy, replacePolicy and replaceBinding do not write. */
  dryRunCreate(policy: PolicyCreate, options?: DryRunOptions): Promise<DryRunResult>;
  dryRunReplace(policyId: string, policy: PolicyReplace, options?: DryRunOptions): Promise<DryRunResult>;
  dryRunBinding(modelId: string, binding: BindingWrite, options?: DryRunOptions): Promise<DryRunResult>;
};

const base = '/api/v1';
const policies = `${base}/guardrail-policies`;

export function createManagementClient(connection: ManagementConnection): ManagementClient {
  const { origin } = connection;

  async function read<T>(path: string, schema: z.ZodType<T>): Promise<T> {
    return (await sendRequest(connection, { method: 'GET', path }, schema)).value;
  }
  async function readTagged<T>(path: string, schema: z.ZodType<T>): Promise<Tagged<T>> {
    return tagged(origin, await sendRequest(connection, { method: 'GET', path }, schema));
  }
  async function command(
    method: 'POST' | 'PUT',
    path: string,
    body: unknown,
    { idempotencyKey = uuid(), etag, message, ...rest }: CommandOptions & { readonly etag?: string },
  ): Promise<OperationResource> {
    const headers = {
      'idempotency-key': idempotencyKey,
      ...(etag === undefined ? {} : { 'if-match': etag }),
      ...(message === undefined ? {} : { [changeMessageHeader]: encodeURIComponent(message) }),
      ...overrideHeaders(rest),
    };
    return (await sendRequest(connection, { method, path, headers, body }, operationSchema)).value;
  }

  async function dryRun(path: string, body: unknown, options: DryRunOptions): Promise<DryRunResult> {
    const call = { method: 'POST', path: `${base}/dry-runs${path.slice(base.length)}`, body } as const;
    return (await sendRequest(connection, { ...call, headers: overrideHeaders(options) }, dryRunResultSchema)).value;
  }

  return {
    origin,
    listPolicies: (page = {}) => read(`${policies}${queryOf(page)}`, policyListSchema),
    createPolicy: (policy, options = {}) => command('POST', policies, policy, options),
    getPolicy: (policyId) => readTagged(`${policies}/${part(policyId)}`, policyDetailSchema),
    replacePolicy: (policyId, policy, options) => command('PUT', `${policies}/${part(policyId)}`, policy, options),
    listRevisions: (policyId, page = {}) =>
      read(`${policies}/${part(policyId)}/revisions${queryOf(page)}`, revisionListSchema),
    getRevision: (policyId, revision) =>
      read(`${policies}/${part(policyId)}/revisions/${revision}`, policyDetailSchema),
    listProviders: () => read(`${base}/guardrail-providers`, providerListSchema),
    getBinding: (modelId) => readTagged(bindingPath(modelId), bindingReadSchema),
    replaceBinding: (modelId, binding, options) => command('PUT', bindingPath(modelId), binding, options),
    getOperation: (operationId) => read(`${base}/operations/${part(operationId)}`, operationSchema),
    getOverview: () => read(`${base}/overview`, overviewSchema),
    getRevisionDiff: (policyId, from, to) =>
      read(`${base}/policy-diffs/${part(policyId)}${queryOf({ from, to })}`, revisionDiffSchema),
    dryRunCreate: (policy, options = {}) => dryRun(policies, policy, options),
    dryRunReplace: (policyId, policy, options = {}) => dryRun(`${policies}/${part(policyId)}`, policy, options),
    dryRunBinding: (modelId, binding, options = {}) => dryRun(bindingPath(modelId), binding, options),
  };
}

function overrideHeaders({ overridesFreeze }: DryRunOptions): Readonly<Record<string, string>> {
  return overridesFreeze === undefined ? {} : { [overrideFreezeHeader]: 'true' };
}

function bindingPath(modelId: string): string {
  return `${base}/models/${part(modelId)}/guardrail-binding`;
}

function part(id: string): string {
  return encodeURIComponent(id);
}

function queryOf(page: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(page)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? '' : `?${query}`;
}

/** A change without an ETag could overwrite the change of another client. */
function tagged<T>(origin: string, { value, etag }: ReceivedResponse<T>): Tagged<T> {
  if (etag !== undefined) return { value, etag };
  throw new ManagementAnswerError(origin, 'a read without an ETag');
}
