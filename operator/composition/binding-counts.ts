import { providerProblems } from '#contracts/provider-causes';
import type { Metrics } from '#kit/metrics/metrics';
import type { StoreView } from '#kube/watch/object-store';
import { type ConditionState, conditionState, conditionStates } from '#resources/binding-state';
import type { ModelBinding } from '#resources/model-binding';
import type { CachedPolicy } from '../caches/cached-policy.ts';

/** Number of bindings in each state; reported only by the leader, so that the sum over replicas is correct. */
type BindingCounts = {
  /** Starts to count the objects of the stores at every scrape. */
  watch(watched: Watched): void;
  /** Updates the gauge; called before a scrape. */
  refresh(): void;
};

type Watched = {
  readonly bindings: Pick<StoreView<ModelBinding>, 'list'>;
  readonly policies: Pick<StoreView<CachedPolicy>, 'list'>;
};

/** The reason for which the condition Served of a policy is False. */
function servedProblem({ status }: Pick<CachedPolicy, 'status'>): string | undefined {
  return status?.conditions?.find((one) => one.type === 'Served' && one.status === 'False')?.reason;
}

const unreachableReasons = Object.values(providerProblems).map(({ reason }) => reason);

export function createBindingCounts(metrics: Metrics): BindingCounts {
  const gauge = metrics.gauge({
    name: 'portcullis_operator_bindings',
    help: 'Bindings by state. Only the leader reports them.',
    labels: { state: conditionStates },
  });
  const unguarded = metrics.gauge({
    name: 'portcullis_operator_bindings_unguarded',
    help: 'Enabled bindings whose route has no guardrail. Only the leader reports them.',
    labels: {},
  });
  const unreachable = metrics.gauge({
    name: 'portcullis_operator_bindings_unreachable',
    help: 'Bindings whose provider cannot be used, by reason of the condition ProviderReachable. Only the leader reports them.',
    labels: { reason: unreachableReasons },
  });
  const unlisted = metrics.gauge({
    name: 'portcullis_operator_policies_unlisted',
    help: 'Policies that remain served for versions of agents, although the list of served policies no longer has them. Only the leader reports them.',
    labels: {},
  });
  const notServed = metrics.gauge({
    name: 'portcullis_operator_policies_not_served',
    help: 'Policies with a served name whose requested revision failed and is not served. Only the leader reports them.',
    labels: {},
  });
  let watched: Watched | undefined;
  return {
    watch(next) {
      watched = next;
    },
    refresh() {
      if (watched === undefined) return;
      const counts = new Map<ConditionState, number>(conditionStates.map((state) => [state, 0]));
      const failing = new Map<string, number>(unreachableReasons.map((reason) => [reason, 0]));
      let open = 0;
      for (const binding of watched.bindings.list()) {
        const { pinned } = binding.status ?? {};
        if (pinned !== undefined && pinned.policyId === undefined && binding.spec.model.state === 'Enabled') open += 1;
        const provider = binding.status?.conditions?.find(({ type }) => type === 'ProviderReachable');
        if (provider?.status === 'False') failing.set(provider.reason, (failing.get(provider.reason) ?? 0) + 1);
        const state = conditionState(binding);
        counts.set(state, (counts.get(state) ?? 0) + 1);
      }
      for (const [state, count] of counts) gauge.set({ state }, count);
      unguarded.set({}, open);
      const problems = watched.policies.list().map(servedProblem);
      unlisted.set({}, problems.filter((reason) => reason === 'ServedPolicyUnlisted').length);
      notServed.set({}, problems.filter((reason) => reason === 'ServedPolicyFailed').length);
      for (const reason of unreachableReasons) unreachable.set({ reason }, failing.get(reason) ?? 0);
    },
  };
}
