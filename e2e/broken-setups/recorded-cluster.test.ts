import { afterAll, expect, test } from 'vitest';
import { describeProviderProblem, type ProviderCause, providerProblems } from '#contracts/provider-causes';
import type { CoreEvent, Pod } from '#kube/client/builtin-types';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { clusterProblems } from '../../cli/kubectl/cluster/cluster-problems.ts';
import { findProblems, problemsText } from '../../cli/why/find-problems.ts';
import { bindingObject } from '../../operator/testing/objects.ts';
import { describePodProblem } from '../../operator/workloads/pods/describe-pod-problem.ts';

/**
 * Set-ups that need a kubelet or a provider. The statuses and events are those that a kubelet and the operator write,
 * and the sentences are those of `kubectl portcullis status`.
 */
type Loose = Readonly<Record<string, unknown>>;
type Installation = Parameters<typeof findProblems>[0];

const startedAt = '2026-01-01T10:00:00Z';
const running = { running: { startedAt } };
const rows: string[] = [];
afterAll(() => console.log(['set-up | first line', ...rows].join('\n')));

function podOf(component: string, container: Loose): Stored<Pod> {
  const metadata = { name: `guard-${component}-0`, labels: { 'app.kubernetes.io/component': component } };
  const containerStatuses = [{ name: component, ready: false, restartCount: 0, ...container }];
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: {}, status: { containerStatuses } } as unknown as Stored<Pod>;
}

function eventOf(component: string, reason: string, message: string): CoreEvent {
  const involvedObject = { kind: 'Pod', name: `guard-${component}-0` };
  return { involvedObject, type: 'Warning', reason, message, lastTimestamp: '2026-01-01T10:05:00Z' } as never;
}

const upstream = { provider: 'models', endpoint: 'https://models.example.com/v1', model: 'large' };
const pinned = { policyId: 'id-of-guard', policyRevision: '1' };
const conditionOf = (type: string, change: Loose = {}): Loose => ({
  type,
  status: 'True',
  reason: 'R',
  message: 'm',
  observedGeneration: 1,
  ...change,
});

/** An installation with one applied binding, with the given changes. */
function installation(change: {
  readonly pods?: readonly Stored<Pod>[];
  readonly events?: readonly CoreEvent[];
  readonly cause?: ProviderCause;
  readonly workload?: Loose;
}): Installation {
  const { pods = [], events = [], cause, workload } = change;
  const { metadata, ...binding } = bindingObject('chat');
  const { apply = '' } = binding.spec;
  const types = ['Ready', 'Accepted', 'ResolvedRefs', 'WorkloadReady', 'Applied'];
  const conditions = [
    ...types.map((type) => conditionOf(type)),
    ...(cause === undefined
      ? []
      : [
          conditionOf('ProviderReachable', {
            status: 'False',
            reason: providerProblems[cause].reason,
            message: describeProviderProblem('models', cause),
          }),
        ]),
  ];
  const { contentProfile } = binding.spec;
  const spec = { token: apply, contentProfile, guardrail: { mode: 'Policy', ...pinned }, workload: 'g-1', upstream };
  const ready = workload ?? conditionOf('Ready');
  const found = {
    surroundings: {
      operator: { state: 'leading', message: 'operator-0 is the leader.', replicas: [] },
      problems: clusterProblems({ pods, deployments: [], statefulSets: [], claims: [], events }),
    },
    policies: [{ metadata: { name: 'guard', labels: { 'portcullis.dev/id': 'id-of-guard' } } }],
    bindings: [
      { ...binding, metadata: { ...metadata, generation: 1 }, status: { conditions } } as Stored<ModelBinding>,
    ],
    routes: [{ metadata: { name: 'chat', uid: 'r', resourceVersion: '8' }, spec }],
    workloads: [{ metadata: { name: 'g-1' }, spec: { replicas: 1, build: 'b' }, status: { conditions: [ready] } }],
    reports: [
      {
        metadata: { name: 'gateway-1' },
        spec: {
          gateway: binding.spec.gateway,
          ready: true,
          appliedThrough: '9',
          pending: [],
          rejected: [],
          inUse: [],
          ...(cause === undefined ? {} : { providers: [{ provider: 'models', cause }] }),
        },
      },
    ],
    collections: [],
    agentVersions: [],
    agents: [],
  };
  return found as unknown as Installation;
}

function killedRuntime(): Loose {
  const terminated = { exitCode: 137, reason: 'OOMKilled' };
  const problem = describePodProblem(undefined, [podOf('runtime', { state: { terminated } })]);
  return conditionOf('Ready', { status: 'False', ...problem });
}

test('an installation without a fault shows no problem', () => {
  expect(findProblems(installation({}), 'kubectl portcullis')).toEqual([]);
});

test.each<readonly [string, Parameters<typeof installation>[0], RegExp, RegExp]>([
  [
    'Secret of a pod missing',
    {
      pods: [podOf('gateway', { state: { waiting: { reason: 'ContainerCreating' } } })],
      events: [eventOf('gateway', 'FailedMount', 'MountVolume.SetUp failed: secret "guard-credentials" not found')],
    },
    /Pod guard-gateway-0: .*secret "guard-credentials" not found/,
    /missing Secret/,
  ],
  ['key missing', { cause: 'credential_missing' }, /its credential does not exist/, /secrets of providers/],
  ['DNS', { cause: 'name_not_found' }, /the name of its host cannot be resolved/, /or the DNS/],
  ['TLS', { cause: 'certificate_untrusted' }, /the authority of its certificate is unknown/, /NODE_EXTRA_CA_CERTS/],
  ['wrong model', { cause: 'model_not_found' }, /it does not know the model/, /spec\.model\.upstreamModel/],
  [
    'frozen gateway',
    {
      pods: [podOf('gateway', { state: running })],
      events: [eventOf('gateway', 'Unhealthy', 'Liveness probe failed: context deadline exceeded')],
    },
    /Pod guard-gateway-0: It is not answering/,
    /Kubernetes kills and restarts it/,
  ],
  ['killed runtime', { workload: killedRuntime() }, /Workload g-1: .*OOMKilled/, /log of the runtime/],
  [
    'database away',
    {
      pods: [
        podOf('management', { state: running }),
        podOf('gateway', { state: running }),
        podOf('postgres', { state: running }),
      ],
      events: ['management', 'postgres'].map((one) =>
        eventOf(one, 'Unhealthy', 'Readiness probe failed: HTTP probe failed with statuscode: 503'),
      ),
    },
    /Database pod guard-postgres-0: It is not ready: Readiness probe failed/,
    /log of the pod/,
  ],
])('status on a cluster names the cause first: %s', (setup, change, cause, remedy) => {
  const [first = '', second = ''] = problemsText(findProblems(installation(change), 'kubectl portcullis')).split('\n');
  rows.push(`${setup} | ${first}`);
  expect(first).toMatch(cause);
  expect(second).toMatch(remedy);
});
