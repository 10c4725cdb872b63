import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Condition } from '#resources/metadata';
import { advice, adviceFor } from './advice.ts';
import type { BindingDependencies } from './binding-dependencies.ts';
import { explainBinding } from './explain-binding.ts';

type Loose = Readonly<Record<string, unknown>>;

const condition = (type: string, status: Condition['status'], reason = 'R', message = 'the message'): Loose => ({
  type,
  status,
  reason,
  message,
  observedGeneration: 2,
});
const allWell = ['Ready', 'Accepted', 'ResolvedRefs', 'WorkloadReady', 'Applied'].map((type) =>
  condition(type, 'True'),
);
const guardrail = { mode: 'Policy', policyId: 'id-of-guard', policyRevision: '1' };
const report = (name: string, spec: Loose = {}): Loose => ({
  metadata: { name },
  spec: { gateway: 'default', ready: true, appliedThrough: '9', pending: [], rejected: [], inUse: [], ...spec },
});
const named = { route: 'chat', uid: 'r', version: '8' };

/** An applied binding with the given changes. */
function factsOf(change: {
  readonly conditions?: readonly Loose[];
  readonly route?: Loose | undefined;
  readonly reports?: readonly Loose[];
  readonly operator?: 'leading' | 'absent' | 'unknown';
  readonly status?: Loose;
  readonly metadata?: Loose;
  readonly workloads?: readonly Loose[] | 'unread';
  readonly gateways?: readonly Loose[];
}): BindingDependencies {
  const { conditions = allWell, reports = [report('gateway-1')], operator = 'leading' } = change;
  const spec = {
    model: { alias: 'chat' },
    gateway: 'default',
    guardrail: { mode: 'Policy', policyRef: { name: 'guard', revision: 1 } },
    contentProfile: 'p',
    apply: 't',
  };
  const route = {
    metadata: { name: 'chat', uid: 'r', resourceVersion: '8' },
    spec: { token: 't', contentProfile: 'p', guardrail, workload: 'g-1', state: 'Enabled' },
  };
  const workload = {
    metadata: { name: 'g-1' },
    spec: { replicas: 1, build: 'b' },
    status: { readyReplicas: 1, conditions: [{ type: 'Ready', status: 'True', message: '' }] },
  };
  const facts = {
    binding: {
      metadata: { name: 'chat', generation: 2, ...change.metadata },
      spec,
      status: { conditions, ...change.status },
    },
    policy: {
      metadata: { name: 'guard', labels: { 'portcullis.dev/id': 'id-of-guard' } },
      status: { latestRevision: { number: 3 } },
    },
    ...('route' in change && change.route === undefined ? {} : { route: change.route ?? route }),
    workloads: change.workloads ?? [workload],
    reports,
    surroundings: {
      operator: { state: operator, message: `The operator: ${operator}.`, replicas: [] },
      problems: [],
      ...(change.gateways === undefined ? {} : { gateways: change.gateways }),
    },
  };
  return facts as unknown as BindingDependencies;
}
const explain = (change: Parameters<typeof factsOf>[0]) => explainBinding(factsOf(change), 'portcullis');
const instead = (...changed: readonly Loose[]) =>
  [condition('Ready', 'False'), ...changed].reduce<readonly Loose[]>(
    (all, one) => [...all.filter(({ type }) => type !== one['type']), one],
    allWell,
  );

describe('why', () => {
  test('why reports no cause for an applied binding, with and without a leader', () => {
    for (const operator of ['leading', 'absent', 'unknown'] as const) {
      const { state, cause, summary } = explain({ operator });
      expect({ state, cause }).toEqual({ state: 'applied', cause: undefined });
      expect(summary).toContain('every ready replica of default serves it with revision 1 of guard');
    }
  });

  test.each<readonly [string, Parameters<typeof factsOf>[0], string, string]>([
    [
      'not accepted',
      { conditions: instead(condition('Accepted', 'False', 'AliasConflict')) },
      'Accepted',
      'AliasConflict',
    ],
    [
      'not resolved',
      { conditions: instead(condition('ResolvedRefs', 'False', 'PolicyNotFound'), condition('Applied', 'Unknown')) },
      'References',
      'PolicyNotFound',
    ],
    [
      'waiting for a runtime that starts',
      { conditions: instead(condition('WorkloadReady', 'Unknown', 'Starting'), condition('Applied', 'Unknown')) },
      'Runtime',
      'Starting',
    ],
    [
      'without its workload',
      { workloads: [], conditions: instead(condition('Applied', 'Unknown')) },
      'Workload',
      'WorkloadMissing',
    ],
    ['without a route', { route: undefined, conditions: instead(condition('Applied', 'Unknown')) }, 'Route', 'Pending'],
    [
      'without a replica',
      { reports: [], conditions: instead(condition('Applied', 'Unknown')) },
      'Replicas',
      'NoReplica',
    ],
    [
      'without a ready replica',
      { reports: [report('gateway-1', { ready: false })], conditions: instead(condition('Applied', 'Unknown')) },
      'Replicas',
      'NoReplica',
    ],
    [
      'pending at a replica',
      { reports: [report('gateway-1', { pending: [named] })], conditions: instead(condition('Applied', 'Unknown')) },
      'Replica gateway-1',
      'WaitingForReplicas',
    ],
    [
      'not loaded by a replica',
      { reports: [report('gateway-1', { appliedThrough: '7' })], conditions: instead(condition('Applied', 'Unknown')) },
      'Replica gateway-1',
      'WaitingForReplicas',
    ],
    [
      'rejected by a replica',
      {
        reports: [report('gateway-1', { rejected: [{ ...named, reason: 'no' }] })],
        conditions: instead(condition('Applied', 'Unknown')),
      },
      'Replica gateway-1',
      'RejectedByReplica',
    ],
    [
      'late',
      { conditions: instead(condition('Applied', 'Unknown', 'ProgressDeadlineExceeded')) },
      'Applied',
      'ProgressDeadlineExceeded',
    ],
    ['not looked at', { metadata: { generation: 3 } }, 'Accepted', 'NotLookedAt'],
    ['being deleted', { metadata: { deletionTimestamp: 'now' } }, 'Deletion', 'Deleting'],
  ])('the cause of a binding that is %s is the first step with a problem', (_what, change, part, reason) => {
    expect(explain(change).cause).toMatchObject({ part, reason });
    expect(explain(change).whatToDo).toEqual(expect.any(String));
  });

  test('a missing leader is reported as the cause of an open step, not of a failed one', () => {
    const open = {
      conditions: instead(condition('WorkloadReady', 'Unknown', 'Starting'), condition('Applied', 'Unknown')),
    };
    expect(explain({ ...open, operator: 'absent' }).cause?.reason).toBe('NoOperator');
    expect(explain({ metadata: { generation: 3 }, operator: 'absent' }).cause?.reason).toBe('NoOperator');
    const failed = { conditions: instead(condition('WorkloadReady', 'False', 'RuleTooCostly')) };
    expect(explain({ ...failed, operator: 'absent' }).cause?.reason).toBe('RuleTooCostly');
  });

  test('the cause of a runtime that cannot start is the reason of its workload, with its remedy', () => {
    const conditions = instead(condition('WorkloadReady', 'Unknown', 'Starting'), condition('Applied', 'Unknown'));
    const workload = (reason: string) => ({
      metadata: { name: 'g-1' },
      spec: { replicas: 1, build: 'b' },
      status: { conditions: [{ type: 'Ready', status: 'False', reason, message: 'the quota is exceeded' }] },
    });
    const found = explain({ conditions, workloads: [workload('PodsForbidden')] });
    expect(found.cause).toMatchObject({ part: 'Workload g-1', reason: 'PodsForbidden' });
    expect(found.whatToDo).toContain('Raise the quota');
    expect(explain({ conditions, workloads: [workload('Starting')] }).cause?.part).toBe('Runtime');
  });

  test('a workload that is not read is not taken for a missing one', () => {
    expect(explain({ workloads: [] }).cause?.reason).toBe('WorkloadMissing');
    expect(explain({ workloads: 'unread' }).cause).toBeUndefined();
  });

  test('after an automatic rollback, why reports the rejection recorded in the route as the cause', () => {
    const refused = { token: 't', reason: 'replica_rejected', message: 'gateway-1 said no' };
    const spec = { token: 'before', contentProfile: 'p', guardrail, workload: 'g-1', refused };
    const route = { metadata: { name: 'chat', uid: 'r', resourceVersion: '8' }, spec };
    const conditions = instead(condition('Applied', 'False', 'ReplicaRejected'));
    const found = explain({ route, conditions });
    expect(found.cause).toMatchObject({ part: 'Route', reason: 'ReplicaRejected', message: 'Gateway-1 said no.' });
    expect(found.serves).toBe('revision 1 of guard');
  });

  test('a route that a replica rejects after it was applied is distinguished from one that was never applied', () => {
    const reports = [report('gateway-1', { rejected: [{ ...named, reason: 'no' }] })];
    const conditions = instead(condition('RouteRejected', 'True', 'RejectedByReplica'));
    expect(explain({ conditions, reports })).toMatchObject({
      state: 'failed',
      summary:
        'ModelBinding chat was applied, but a replica now rejects its route: Replica gateway-1: It rejects the route: no.',
    });
    const unconfirmed = instead(
      condition('RouteRejected', 'True', 'RejectedByReplica'),
      condition('Applied', 'Unknown', 'WaitingForReplicas'),
    );
    expect(explain({ conditions: unconfirmed, reports }).summary).toContain('ModelBinding chat was not applied: ');
  });

  test('the cause of a missing revision names the newest revision', () => {
    const conditions = instead(
      condition('ResolvedRefs', 'False', 'PolicyRevisionUnknown', 'the policy has no revision 9'),
    );
    expect(explain({ conditions }).cause?.message).toBe('The policy has no revision 9. The newest one is 3.');
  });

  test('why shows an unready or silent replica, which does not block while another one is ready', () => {
    const reports = [report('gateway-1'), report('gateway-2', { ready: false })];
    const { chain, cause } = explain({
      reports,
      gateways: [{ name: 'gateway-3', ready: false, problem: 'ErrImagePull' }],
    });
    expect(cause).toBeUndefined();
    expect(chain.filter(({ state }) => state === 'aside').map(({ part, message }) => [part, message])).toEqual([
      ['Replica gateway-2', 'It is not ready; the application does not wait for it.'],
      ['Replica gateway-3', 'ErrImagePull.'],
    ]);
  });
});

describe('a detector that does not judge', () => {
  const sentenceOfRule = 'The provider spam of the rule no-spam cannot be used: it does not answer in time.';
  const conditions = [...allWell, condition('ProviderReachable', 'False', 'ConnectionTimeout', sentenceOfRule)];
  const route = {
    metadata: { name: 'chat', uid: 'r', resourceVersion: '8' },
    spec: {
      token: 't',
      contentProfile: 'p',
      guardrail,
      workload: 'g-1',
      state: 'Enabled',
      upstream: { provider: 'echo', endpoint: 'http://echo.example/v1', model: 'm' },
    },
  };
  const failing = { provider: 'spam', workload: 'g-1', rule: 'no-spam', cause: 'timeout' };
  const reports = [report('gateway-1', { providers: [failing] }), report('gateway-2')];

  test('why names the rule and its provider first, the replicas that report it, and the remedy for detectors', () => {
    const { summary, cause, whatToDo } = explain({ conditions, route, reports });
    expect(summary).toBe(
      `ModelBinding chat is applied with revision 1 of guard, but texts that the rule no-spam judges are refused: ${sentenceOfRule} Replicas: gateway-1.`,
    );
    expect(cause).toMatchObject({ part: 'Provider', reason: 'ConnectionTimeout', rule: 'no-spam' });
    expect(whatToDo).toMatch(/^Check its load and the network, or raise timeoutMs of the rule\. /);
  });

  test('why names the endpoint of the model if the provider of the model fails', () => {
    const ofModel = [report('gateway-1', { providers: [failing, { provider: 'echo', cause: 'timeout' }] })];
    const { cause, whatToDo } = explain({ conditions, route, reports: ofModel });
    expect(cause?.message).toContain('Endpoint: echo.example. Replicas: gateway-1.');
    expect(whatToDo).toContain('provider test --binding chat');
  });
});

describe('advice', () => {
  const names = { program: 'kubectl portcullis', binding: 'chat', policy: 'guard' };

  test('portcullis why has advice for every reason that the documentation lists', () => {
    const page = readFileSync(new URL('../../docs/conditions-and-errors.md', import.meta.url), 'utf8');
    const [, bindings = ''] = page.split('| Reason | Meaning | What to do |');
    const rows = bindings.split('\n\n')[0]?.split('\n').slice(2) ?? [];
    const reasons = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map((match) => match[1]));
    expect(reasons.length).toBeGreaterThan(20);
    const noReasons = ['Disabled', 'Unguarded', 'RuntimeWorkload', 'ProviderReachable'];
    expect(
      reasons.filter((reason) => !Object.hasOwn(advice, reason ?? '') && !noReasons.includes(reason ?? '')),
    ).toEqual([]);
  });

  test.each(Object.keys(advice))('the advice for %s is a sentence', (reason) => {
    expect(adviceFor(reason, names)).toMatch(/^\S.{8,}$/);
  });

  test('the advice for an unknown reason names where to look', () => {
    expect(adviceFor('constructor', names)).toContain('conditions of the binding');
  });
});
