import { expect, test } from 'vitest';
import { sampleRevision } from '#kube/testing/sample-resources';
import type { GatewayRoute } from '#resources/gateway-route';
import { restoreMark } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { PolicyRevision } from '#resources/policy-revision';
import { policyObject } from '../../testing/objects.ts';
import { revisionUses, type UseFacts } from './revision-uses.ts';

const stored = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
const sample = sampleRevision('p-1');
const revision = { ...sample, metadata: { ...sample.metadata, ...stored } } as Stored<PolicyRevision>;
const unused: UseFacts = {
  revision,
  policy: undefined,
  newest: 1,
  bindings: [],
  routes: [],
  workloads: [],
  agentVersions: [],
  isInCommand: false,
};

/** An object with the parts that decide about uses. */
function object<T>(name: string, parts: Readonly<Record<string, unknown>>): T {
  return { metadata: { ...stored, name }, ...parts } as T;
}

const guard = (name: string, number: number) => ({ mode: 'Policy', policyRef: { name, revision: number } });
const none = { mode: 'None' };
const route = (policyRevision: string) => ({ mode: 'Policy', policyId: 'p', policyRevision });
const sampleGuard = {
  mode: 'Policy',
  policyId: 'p',
  policyRevision: '1',
  digest: 'a'.repeat(64),
  addresses: ['http://127.0.0.1:1'],
  headers: {
    'x-ap-gr-policy-id': 'p',
    'x-ap-gr-policy-revision': '1',
    'x-ap-gr-bundle-digest': 'a',
    'x-ap-gr-content-profile': 'p',
  },
  maxBodyBytes: 1,
  maxMessages: 1,
  deadlineMs: { request: 1, response: 1 },
  streaming: { allowed: true },
};

/** A route that served the version before. */
function replaced(refusalText: string | undefined): Stored<GatewayRoute> {
  const guardrail = { ...sampleGuard, policyId: 'p', policyRevision: '1', refusalText };
  const previous = { mode: 'Policy', token: '', contentProfile: 'c', workload: 'w', guardrail };
  const annotations = { 'portcullis.dev/previous-application': JSON.stringify(previous) };
  return {
    metadata: { ...stored, name: 'r', annotations },
    spec: { guardrail: none },
  } as unknown as Stored<GatewayRoute>;
}
type Binding = UseFacts['bindings'][number];
type Route = UseFacts['routes'][number];
type Workload = UseFacts['workloads'][number];
type Version = UseFacts['agentVersions'][number];

const workload = (labels?: Readonly<Record<string, string>>): Workload => ({
  metadata: { ...stored, name: 'g-1', ...(labels === undefined ? {} : { labels: { ...labels } }) },
});
const labels = (id: string, number: string) => ({
  'portcullis.dev/policy-id': id,
  'portcullis.dev/policy-revision': number,
});
const policy = object<NonNullable<UseFacts['policy']>>('p', { spec: policyObject('p').spec });

test('a revision that nothing names or runs is not in use', () => {
  expect(revisionUses(unused)).toEqual([]);
});

test.each<readonly [string, Partial<UseFacts>, Partial<UseFacts>]>([
  ['the newest version of a policy', { policy }, { policy, newest: 2 }],
  [
    'the version that a binding names',
    { bindings: [object<Binding>('b', { spec: { guardrail: guard('p', 1) } })] },
    { bindings: [object<Binding>('b', { spec: { guardrail: guard('p', 2) } })] },
  ],
  [
    'the version that guards a binding which names another one',
    {
      bindings: [
        object<Binding>('b', { spec: { guardrail: none }, status: { pinned: { policyId: 'p', policyRevision: 1 } } }),
      ],
    },
    {
      bindings: [
        object<Binding>('b', { spec: { guardrail: none }, status: { pinned: { policyId: 'q', policyRevision: 1 } } }),
      ],
    },
  ],
  [
    'the version that a route serves',
    { routes: [object<Route>('r', { spec: { guardrail: route('1') } })] },
    {
      routes: [
        object<Route>('r', { spec: { guardrail: route('2') } }),
        object<Route>('s', { spec: { guardrail: none } }),
      ],
    },
  ],
  ['the version whose refusal text a route keeps', { routes: [replaced('kept')] }, { routes: [replaced(undefined)] }],
  [
    'the version that a workload runs',
    { workloads: [workload(labels('p', '1'))] },
    { workloads: [workload(labels('p', '11')), workload(labels('q', '1'))] },
  ],
  ['the version of a workload that does not name its version', { workloads: [workload()] }, {}],
  [
    'the version that an agent version names for its answers',
    { agentVersions: [object<Version>('a', { spec: { guardrails: { input: none, output: guard('p', 1) } } })] },
    { agentVersions: [object<Version>('a', { spec: { guardrails: { input: none, output: guard('q', 1) } } })] },
  ],
  ['the version whose definition a command writes', { isInCommand: true }, { isInCommand: false }],
  [
    'the version from which a policy is created again',
    { revision: { ...revision, metadata: { ...revision.metadata, labels: { [restoreMark]: 'requested' } } } },
    { revision: { ...revision, metadata: { ...revision.metadata, labels: { other: 'requested' } } } },
  ],
])('a revision is in use by %s, and its neighbour is not', (_title, used, free) => {
  expect(revisionUses({ ...unused, ...used })).toHaveLength(1);
  expect(revisionUses({ ...unused, ...free })).toEqual([]);
});
