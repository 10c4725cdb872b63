import { createPolicy } from './create-policy.ts';
import { getBinding } from './get-binding.ts';
import { getOperation } from './get-operation.ts';
import { getPolicy } from './get-policy.ts';
import { getRevision } from './get-revision.ts';
import { listPolicies } from './list-policies.ts';
import { listProviders } from './list-providers.ts';
import { listRevisions } from './list-revisions.ts';
import { replaceBinding } from './replace-binding.ts';
import { replacePolicy } from './replace-policy.ts';
import type { RouteOperation } from './run-operation.ts';

export type Method = 'GET' | 'POST' | 'PUT';
export type PathRoutes = {
  /** As the router takes it. */
  readonly path: string;
  readonly methods: Readonly<Partial<Record<Method, RouteOperation>>>;
};

/** The ten routes of the contract (document 3, section 4.A). */
export const managementRoutes: readonly PathRoutes[] = [
  {
    path: '/api/v1/guardrail-policies',
    methods: {
      GET: { name: 'listPolicies', query: ['limit', 'cursor'], run: listPolicies },
      POST: { name: 'createPolicy', query: [], run: createPolicy },
    },
  },
  {
    path: '/api/v1/guardrail-policies/:policyId',
    methods: {
      GET: { name: 'getPolicy', query: [], run: getPolicy },
      PUT: { name: 'replacePolicy', query: [], run: replacePolicy },
    },
  },
  {
    path: '/api/v1/guardrail-policies/:policyId/revisions',
    methods: { GET: { name: 'listRevisions', query: ['limit', 'beforeRevision'], run: listRevisions } },
  },
  {
    path: '/api/v1/guardrail-policies/:policyId/revisions/:revision',
    methods: { GET: { name: 'getRevision', query: [], run: getRevision } },
  },
  {
    path: '/api/v1/guardrail-providers',
    methods: { GET: { name: 'listProviders', query: [], run: listProviders } },
  },
  {
    path: '/api/v1/models/:modelId/guardrail-binding',
    methods: {
      GET: { name: 'getBinding', query: [], run: getBinding },
      PUT: { name: 'replaceBinding', query: [], run: replaceBinding },
    },
  },
  {
    path: '/api/v1/operations/:operationId',
    methods: { GET: { name: 'getOperation', query: [], run: getOperation } },
  },
];
