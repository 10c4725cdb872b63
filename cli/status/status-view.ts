import { type AgentRow, agentRow } from '#diagnosis/agent-row';
import { type AgentVersionRow, agentVersionRow } from '#diagnosis/agent-version-row';
import { appliedBy } from '#diagnosis/applied-by';
import { routeStateOf } from '#diagnosis/route-state';
import { type ShownState, stateOf } from '#diagnosis/shown-state';
import type { OperatorView, ProcessView } from '#diagnosis/surroundings';
import type { ChangeNote } from '#resources/change-note';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { type JudgedScope, judgedScopeOf } from '../bindings/judged-scope.ts';
import { deletionOf } from '../resources/policy-references.ts';
import { type CollectionRow, collectionRow } from './collection-row.ts';
import type { InstallationStatus } from './read-status.ts';

export type ReplicaRow = {
  readonly gateway: string;
  readonly replica: string;
  readonly ready: boolean;
  /** Names of routes. */
  readonly loaded: readonly string[];
  readonly pending: readonly string[];
  readonly stale: readonly string[];
  readonly rejected: readonly { readonly route: string; readonly reason: string }[];
  /** Workloads that loaded routes or requests in flight use. */
  readonly inUse: readonly string[];
  readonly problem?: string;
};

export type BindingRow = {
  readonly name: string;
  readonly alias: string;
  readonly gateway: string;
  /** The desired policy; absent for an unguarded model. */
  readonly policy?: string;
  readonly revision?: number;
  readonly state: ShownState;
  /** The revision that guards the model now, `none` for an unguarded model; absent without a route. */
  readonly serves?: string;
  readonly workload?: string;
  readonly build?: string;
  readonly digest?: string;
  /** The texts of the model that are judged; absent for an unguarded model. */
  readonly judged?: JudgedScope;
  /** The author and the message of the application that serves requests. */
  readonly appliedBy?: ChangeNote;
  /** The reason why the binding is not in the desired state; absent when it is. */
  readonly why?: string;
};

export type PolicyRow = {
  readonly name: string;
  readonly state: 'deleting';
  /** The objects that delay the deletion of the policy. */
  readonly why: string;
};

export type WorkloadRow = {
  readonly name: string;
  readonly state: string;
  readonly ready: number;
  readonly replicas: number;
  readonly build: string;
  readonly digest: string;
  /** Bindings whose routes use the workload. */
  readonly bindings: readonly string[];
  readonly problem?: string;
};

/** The status of an installation, as JSON shows it and tables print it. */
export type StatusView = {
  readonly namespace: string;
  readonly operator: OperatorView;
  readonly gateways: readonly ReplicaRow[];
  readonly bindings: readonly BindingRow[];
  readonly workloads: readonly WorkloadRow[];
  /** Policies that are being deleted; absent if no policy is being deleted. */
  readonly policies?: readonly PolicyRow[];
  /** Collections that resources declare; absent if no resource declares a collection. */
  readonly collections?: readonly CollectionRow[];
  /** Agents of the installation; absent without agents. */
  readonly agents?: readonly AgentRow[];
  /** Versions of agents; absent if no version exists. */
  readonly agentVersions?: readonly AgentVersionRow[];
};

export function viewOfStatus(installation: InstallationStatus): StatusView {
  const { namespace, surroundings, policies, bindings, routes, workloads } = installation;
  const { collections, agents, agentVersions } = installation;
  const byName = new Map(routes.map((route) => [route.metadata.name, route]));
  const deleting = policies.flatMap(deletingRow);
  const builds = new Map(workloads.map(({ metadata, spec }) => [metadata.name, spec.build]));
  return {
    namespace,
    operator: surroundings.operator,
    gateways: replicaRows(installation),
    bindings: bindings.map((binding) => bindingRow(binding, byName.get(binding.metadata.name), builds)),
    workloads: workloads.map((workload) => workloadRow(workload, routes)),
    ...(deleting.length === 0 ? {} : { policies: deleting }),
    ...(collections.length === 0 ? {} : { collections: collections.map(collectionRow) }),
    ...(agents.length === 0 ? {} : { agents: agents.map(agentRow) }),
    ...(agentVersions.length === 0 ? {} : { agentVersions: agentVersions.map(agentVersionRow) }),
  };
}

function deletingRow(policy: Stored<GuardrailPolicy>): readonly PolicyRow[] {
  const why = deletionOf(policy);
  return why === undefined ? [] : [{ name: policy.metadata.name, state: 'deleting', why }];
}

function replicaRows({ reports, routes, surroundings }: InstallationStatus): readonly ReplicaRow[] {
  const processes = new Map(surroundings.gateways?.map((process) => [process.name, process]));
  const reported = reports.map((report) => {
    const process = processes.get(report.metadata.name);
    const isGone = surroundings.gateways !== undefined && process === undefined;
    const row = replicaRow(report, routes, isGone ? 'its process has ended' : process?.problem);
    return process?.answering === false ? { ...row, ready: false } : row;
  });
  const names = new Set(reports.map(({ metadata }) => metadata.name));
  return [...reported, ...[...processes.values()].filter(({ name }) => !names.has(name)).map(silentRow)].toSorted(
    (a, b) => compare(a.gateway, b.gateway) || compare(a.replica, b.replica),
  );
}

function replicaRow(
  report: Stored<GatewayReport>,
  routes: readonly Stored<GatewayRoute>[],
  problem: string | undefined,
): ReplicaRow {
  const { metadata, spec } = report;
  const own = routes.filter((route) => route.spec.gateway === spec.gateway);
  const held = own.map((route) => ({ route: route.metadata.name, state: routeStateOf(report, route) }));
  const of = (kind: 'loaded' | 'pending' | 'stale'): readonly string[] =>
    held.filter(({ state }) => state.kind === kind).map(({ route }) => route);
  return {
    gateway: spec.gateway,
    replica: metadata.name,
    ready: spec.ready,
    loaded: of('loaded'),
    pending: of('pending'),
    stale: of('stale'),
    rejected: held.flatMap(({ route, state }) => (state.kind === 'rejected' ? [{ route, reason: state.reason }] : [])),
    inUse: [...new Set(spec.inUse.map(({ workload }) => workload))].toSorted(),
    ...(problem === undefined ? {} : { problem }),
  };
}

function silentRow({ name, problem = 'it has not reported yet' }: ProcessView): ReplicaRow {
  return {
    gateway: '-',
    replica: name,
    ready: false,
    loaded: [],
    pending: [],
    stale: [],
    rejected: [],
    inUse: [],
    problem,
  };
}

function bindingRow(
  binding: Stored<ModelBinding>,
  route: Stored<GatewayRoute> | undefined,
  builds: ReadonlyMap<string, string>,
): BindingRow {
  const { metadata, spec } = binding;
  const { guardrail } = spec;
  const note = appliedBy(binding);
  const judged = judgedScopeOf(binding);
  const wanted =
    guardrail.mode === 'Policy' ? { policy: guardrail.policyRef.name, revision: guardrail.policyRef.revision } : {};
  return {
    name: metadata.name,
    alias: spec.model.alias,
    gateway: spec.gateway,
    ...wanted,
    ...(route === undefined ? {} : servedBy(route, builds)),
    ...(judged === undefined ? {} : { judged }),
    ...(note === undefined ? {} : { appliedBy: note }),
    ...stateOf(binding),
  };
}

function servedBy({ spec }: Stored<GatewayRoute>, builds: ReadonlyMap<string, string>): Partial<BindingRow> {
  const { guardrail, workload } = spec;
  if (guardrail.mode === 'None' || workload === undefined) return { serves: 'none' };
  const build = builds.get(workload);
  return {
    serves: guardrail.policyRevision,
    workload,
    digest: guardrail.digest,
    ...(build === undefined ? {} : { build }),
  };
}

function workloadRow(
  { metadata, spec, status }: Stored<RuntimeWorkload>,
  routes: readonly Stored<GatewayRoute>[],
): WorkloadRow {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return {
    name: metadata.name,
    state: status?.state ?? 'Starting',
    ready: status?.readyReplicas ?? 0,
    replicas: spec.replicas,
    build: spec.build,
    digest: spec.digest,
    bindings: routes.filter((route) => route.spec.workload === metadata.name).map((route) => route.metadata.name),
    ...(ready === undefined || ready.status === 'True' ? {} : { problem: ready.message }),
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
