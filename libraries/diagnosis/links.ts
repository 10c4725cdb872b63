import { providerProblems } from '#contracts/provider-causes';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel } from '#resources/kinds';
import type { Condition, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { providerFactOf } from '#resources/provider-fact';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import type { BindingDependencies } from './binding-dependencies.ts';
import { routeStateOf } from './route-state.ts';
import { sentence } from './sentence.ts';
import type { InstallationProblem } from './surroundings.ts';

/** One step between a binding and its application. `aside` steps are shown, but do not block the application. */
export type Link = {
  readonly part: string;
  readonly state: 'well' | 'open' | 'fault' | 'aside';
  /** Machine-readable reason of the state; absent in the state `well`. */
  readonly reason?: string;
  readonly message: string;
  /** The id of the rule whose detector or classifier does not judge; it selects another remedy for the reason. */
  readonly rule?: string;
};

export function operatorLink({
  surroundings: { operator, problems },
}: Pick<BindingDependencies, 'surroundings'>): Link {
  const { state, message } = operator;
  const problem = problems.find(({ component }) => component === 'operator');
  if (state === 'absent' && problem !== undefined) return problemLink('Operator', problem);
  if (state === 'absent') return { part: 'Operator', state: 'fault', reason: 'NoOperator', message: sentence(message) };
  return { part: 'Operator', state: state === 'leading' ? 'well' : 'aside', message: sentence(message) };
}

/** A step that a faulty process or object stops; its reason selects the remedy. */
function problemLink(step: string, { part, reason, message }: InstallationProblem): Link {
  return { part: step, state: 'fault', reason, message: `${part}: ${message}` };
}

/** A condition of the binding, if the condition refers to the current generation. */
export function conditionLink(part: string, type: string, { binding }: BindingDependencies): Link {
  const condition = conditionOf(binding.status?.conditions, type);
  const { generation } = binding.metadata;
  if (condition?.observedGeneration !== generation) {
    const message = `The operator has not processed generation ${generation} of the binding yet.`;
    return { part, state: 'open', reason: 'NotLookedAt', message };
  }
  const { status, reason } = condition;
  const message = sentence(condition.message);
  if (status === 'True') return { part, state: 'well', message };
  return { part, state: status === 'False' ? 'fault' : 'open', reason, message };
}

/**
 * The provider of the model or of a rule that cannot be used, and the replicas that report it. A provider that was not
 * called yet blocks no step.
 */
export function providerLinks(facts: BindingDependencies): readonly Link[] {
  const condition = conditionOf(facts.binding.status?.conditions, 'ProviderReachable');
  if (condition === undefined) return [];
  const link = conditionLink('Provider', 'ProviderReachable', facts);
  if (link.state !== 'fault') return [link.state === 'open' ? { ...link, state: 'aside' } : link];
  const route = facts.route?.spec;
  if (route === undefined) return [link];
  const failing = facts.reports.filter(({ spec }) => providerFactOf([spec], route).kind === 'failing');
  const replicas = failing.map(({ metadata }) => metadata.name).join(', ');
  const named = replicas === '' ? '' : ` Replicas: ${replicas}.`;
  const specs = facts.reports.map(({ spec }) => spec);
  const fact = providerFactOf(specs, route);
  // The operator writes the condition of the newest reports shortly after them.
  if (fact.kind === 'failing' && fact.rule !== undefined && link.reason === providerProblems[fact.cause].reason)
    return [{ ...link, rule: fact.rule, message: `${link.message}${named}` }];
  const endpoint = URL.parse(route.upstream.endpoint)?.host ?? 'unknown';
  return [{ ...link, message: `${link.message} Endpoint: ${endpoint}.${named}` }];
}

/** The step of the condition ResolvedRefs; for an unknown revision its message also names the newest revision. */
export function referencesLink(facts: BindingDependencies): Link {
  const link = conditionLink('References', 'ResolvedRefs', facts);
  const newest = facts.policy?.status?.latestRevision?.number;
  if (link.reason !== 'PolicyRevisionUnknown' || newest === undefined) return link;
  return { ...link, message: `${link.message} The newest one is ${newest}.` };
}

/** The operator's validation of the current rules of the policy; it blocks no earlier application. */
export function policyLinks({ policy }: BindingDependencies): readonly Link[] {
  if (policy === undefined) return [];
  const part = `Policy ${policy.metadata.name}`;
  return ['Accepted', 'Valid', 'Warnings'].flatMap((type): readonly Link[] => {
    const condition = conditionOf(policy.status?.conditions, type);
    const isBad = condition?.status === (type === 'Warnings' ? 'True' : 'False');
    if (!isBad || condition.observedGeneration !== policy.metadata.generation) return [];
    const message = sentence(
      type === 'Warnings' ? condition.message : `its newest state is refused: ${condition.message}`,
    );
    return [{ part, state: 'aside', reason: condition.reason, message }];
  });
}

export function workloadLinks({ route, workloads }: BindingDependencies): readonly Link[] {
  if (workloads === 'unread') return [];
  const pinned = route?.spec.workload;
  const isGone = pinned !== undefined && !workloads.some(({ metadata }) => metadata.name === pinned);
  const message = `The workload ${pinned} of the route does not exist.`;
  const gone = { part: 'Workload', state: 'fault', reason: 'WorkloadMissing', message } as const;
  return [...(isGone ? [gone] : []), ...workloads.map(workloadLink)];
}

function workloadLink({ metadata, spec, status }: Stored<RuntimeWorkload>): Link {
  const part = `Workload ${metadata.name}`;
  const ready = conditionOf(status?.conditions, 'Ready');
  const count = `${status?.readyReplicas ?? 0} of ${spec.replicas} processes of build ${spec.build} are ready.`;
  if (ready?.status === 'True') return { part, state: 'well', message: count };
  const state = ready?.status === 'False' ? 'fault' : 'open';
  return { part, state, reason: ready?.reason ?? 'Starting', message: sentence(ready?.message ?? count) };
}

export function routeLink({ binding, policy, route }: BindingDependencies): Link {
  const part = 'Route';
  if (route === undefined) {
    const message = 'There is no route yet: the alias is not served.';
    return { part, state: 'open', reason: 'Pending', message };
  }
  const id = policy?.metadata.labels?.[idLabel];
  if (pinsWanted(binding, route, id)) return { part, state: 'well', message: `It pins ${pinnedText(route, policy)}.` };
  const { refused } = route.spec;
  if (refused !== undefined && refused.token === (binding.spec.apply ?? '')) {
    return { part, state: 'fault', reason: camel(refused.reason), message: sentence(refused.message) };
  }
  const message = `It still pins ${pinnedText(route, policy)}; it changes when all steps above are complete.`;
  return { part, state: 'open', reason: 'Pending', message };
}

/** Whether the route enforces the revision that the spec of the binding requests. */
function pinsWanted({ spec }: Stored<ModelBinding>, route: Stored<GatewayRoute>, id: string | undefined): boolean {
  const { token, contentProfile, guardrail } = route.spec;
  if (token !== (spec.apply ?? '') || contentProfile !== spec.contentProfile) return false;
  if (guardrail.mode === 'None' || spec.guardrail.mode === 'None') return guardrail.mode === spec.guardrail.mode;
  const isRevision = guardrail.policyRevision === String(spec.guardrail.policyRef.revision);
  return isRevision && (id === undefined || guardrail.policyId === id);
}

/** The pinned revision in words, with the name of the policy if the binding names the same policy, else its id. */
export function pinnedText({ spec }: Stored<GatewayRoute>, policy: BindingDependencies['policy']): string {
  const { guardrail } = spec;
  if (guardrail.mode === 'None') return 'no guardrail';
  const isKnown = policy?.metadata.labels?.[idLabel] === guardrail.policyId;
  return `revision ${guardrail.policyRevision} of ${isKnown ? policy.metadata.name : `the policy ${guardrail.policyId}`}`;
}

/**
 * The steps of all replicas of the gateway. An application does not wait for unready replicas while another replica is
 * ready.
 */
export function replicaLinks({ binding, route, reports, surroundings }: BindingDependencies): readonly Link[] {
  const { gateway } = binding.spec;
  const isAnyReady = reports.some(({ spec }) => spec.ready);
  const frozen = new Set(
    (surroundings.gateways ?? []).filter((one) => one.answering === false).map(({ name }) => name),
  );
  const links = reports.map((report) =>
    frozen.has(report.metadata.name) ? frozenLink(report.metadata.name) : replicaLink(report, route, isAnyReady),
  );
  const silent = (surroundings.gateways ?? [])
    .filter(({ name, ready }) => !ready && !reports.some(({ metadata }) => metadata.name === name))
    .map(({ name, problem }): Link => {
      const message = sentence(problem ?? 'it has not reported yet');
      return { part: `Replica ${name}`, state: 'aside', reason: 'ReplicaNotReady', message };
    });
  if (isAnyReady) return [...links, ...silent];
  const problem = surroundings.problems.find(({ component }) => component === 'gateway');
  if (problem !== undefined) return [problemLink('Replicas', problem), ...links, ...silent];
  const message = `No replica of the gateway ${gateway} is ready: nothing can be applied.`;
  return [{ part: 'Replicas', state: 'fault', reason: 'NoReplica', message }, ...links, ...silent];
}

/** A frozen replica still has the report that it wrote before. */
function frozenLink(name: string): Link {
  const message = 'It is not answering: requests to it hang.';
  return { part: `Replica ${name}`, state: 'fault', reason: 'ReplicaNotAnswering', message };
}

function replicaLink(
  report: Stored<GatewayReport>,
  route: Stored<GatewayRoute> | undefined,
  isAnyReady: boolean,
): Link {
  const part = `Replica ${report.metadata.name}`;
  if (!report.spec.ready) {
    const message = isAnyReady ? 'It is not ready; the application does not wait for it.' : 'It is not ready.';
    return { part, state: 'aside', reason: 'ReplicaNotReady', message };
  }
  if (route === undefined) return { part, state: 'aside', message: 'It is ready. There is no route to load.' };
  const state = routeStateOf(report, route);
  switch (state.kind) {
    case 'loaded':
      return { part, state: 'well', message: 'It has loaded the current route.' };
    case 'pending':
      return {
        part,
        state: 'open',
        reason: 'WaitingForReplicas',
        message: 'It has not reached the runtime of the route yet.',
      };
    case 'stale':
      return { part, state: 'open', reason: 'WaitingForReplicas', message: 'It has not loaded the current route yet.' };
    case 'rejected':
      return {
        part,
        state: 'fault',
        reason: 'RejectedByReplica',
        message: sentence(`it rejects the route: ${state.reason}`),
      };
  }
}

function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Converts a code such as `policy_archived` to `PolicyArchived`. */
function camel(reason: string): string {
  return reason.replace(/(^|_)([a-z])/g, (_match, _start, letter: string) => letter.toUpperCase());
}
