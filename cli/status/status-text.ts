import type { AgentRow } from '#diagnosis/agent-row';
import type { AgentVersionRow } from '#diagnosis/agent-version-row';
import { appliedByText } from '#diagnosis/applied-by';
import { judgesText } from '../bindings/judged-scope.ts';
import { unguarded } from '../output/resource-table.ts';
import type { CollectionRow } from './collection-row.ts';
import type { BindingRow, PolicyRow, ReplicaRow, StatusView, WorkloadRow } from './status-view.ts';
import { type Column, textOfTable } from './text-of-table.ts';

/** Hexadecimal digits of a digest that are shown. */
const shortDigest = 12;

const replicaColumns: readonly Column<ReplicaRow>[] = [
  { header: 'REPLICA', cell: ({ replica }) => replica },
  { header: 'GATEWAY', cell: ({ gateway }) => gateway },
  { header: 'READY', cell: ({ ready }) => (ready ? 'yes' : 'no') },
  { header: 'LOADED', cell: ({ loaded }) => String(loaded.length) },
  { header: 'PENDING', cell: ({ pending, stale }) => String(pending.length + stale.length) },
  { header: 'REJECTED', cell: ({ rejected }) => String(rejected.length) },
  { header: 'ROUTES', wide: true, cell: ({ loaded }) => loaded.join(',') },
  { header: 'IN USE', wide: true, cell: ({ inUse }) => inUse.join(',') },
  { header: 'WHY', cell: whyOfReplica },
];

/** Capitals mark states that need attention. */
export const stateWords: Readonly<Partial<Record<BindingRow['state'], string>>> = {
  unguarded,
  deleting: 'Deleting',
};

const bindingColumns: readonly Column<BindingRow>[] = [
  { header: 'BINDING', cell: ({ name }) => name },
  { header: 'ALIAS', cell: ({ alias }) => alias },
  { header: 'POLICY', cell: ({ policy }) => policy },
  { header: 'REVISION', cell: ({ revision }) => revision?.toString() },
  { header: 'STATE', cell: ({ state }) => stateWords[state] ?? state },
  { header: 'SERVES', cell: ({ serves }) => (serves === 'none' ? unguarded : serves) },
  { header: 'GATEWAY', wide: true, cell: ({ gateway }) => gateway },
  { header: 'WORKLOAD', wide: true, cell: ({ workload }) => workload },
  { header: 'BUILD', wide: true, cell: ({ build }) => build },
  { header: 'JUDGES', wide: true, cell: ({ judged }) => judged && judgesText(judged) },
  { header: 'UNJUDGED', wide: true, cell: ({ judged }) => judged?.unjudged },
  { header: 'STREAMS', wide: true, cell: ({ judged }) => judged?.streaming },
  { header: 'APPLIED BY', wide: true, cell: ({ appliedBy }) => appliedBy && appliedByText(appliedBy) },
  { header: 'WHY', cell: ({ why }) => why },
];

const workloadColumns: readonly Column<WorkloadRow>[] = [
  { header: 'WORKLOAD', cell: ({ name }) => name },
  { header: 'STATE', cell: ({ state }) => state },
  { header: 'READY', cell: ({ ready, replicas }) => `${ready}/${replicas}` },
  { header: 'BUILD', cell: ({ build }) => build },
  { header: 'BINDINGS', cell: ({ bindings }) => String(bindings.length) },
  { header: 'DIGEST', wide: true, cell: ({ digest }) => digest.slice(0, shortDigest) },
  { header: 'USED BY', wide: true, cell: ({ bindings }) => bindings.join(',') },
  { header: 'WHY', cell: ({ problem }) => problem },
];

const policyColumns: readonly Column<PolicyRow>[] = [
  { header: 'POLICY', cell: ({ name }) => name },
  { header: 'STATE', cell: () => 'Deleting' },
  { header: 'WHY', cell: ({ why }) => why },
];

const collectionColumns: readonly Column<CollectionRow>[] = [
  { header: 'COLLECTION', cell: ({ name }) => name },
  { header: 'TENANT', cell: ({ tenant }) => tenant },
  { header: 'NAME', cell: ({ collection }) => collection },
  { header: 'STATE', cell: ({ state }) => (state === 'deleting' ? 'Deleting' : state) },
  { header: 'DOCUMENTS', cell: ({ documents }) => documents?.toString() },
  { header: 'REINDEX', cell: ({ reindex }) => reindex && `${reindex.done}/${reindex.total}` },
  { header: 'WHY', cell: ({ why }) => why },
];

const agentColumns: readonly Column<AgentRow>[] = [
  { header: 'AGENT', cell: ({ name }) => name },
  { header: 'STATE', cell: ({ state }) => (state === 'deleting' ? 'Deleting' : state) },
  { header: 'VERSION', cell: ({ version }) => version },
  { header: 'CANARY', cell: ({ canary }) => canary },
  { header: 'PREVIOUS', wide: true, cell: ({ previous }) => previous.join(', ') },
  { header: 'URL', wide: true, cell: ({ url }) => url },
  { header: 'WHY', cell: ({ why }) => why },
];

const agentVersionColumns: readonly Column<AgentVersionRow>[] = [
  { header: 'AGENTVERSION', cell: ({ name }) => name },
  { header: 'AGENT', cell: ({ agent }) => agent },
  { header: 'STATE', cell: ({ state }) => (state === 'deleting' ? 'Deleting' : state) },
  { header: 'GUARDRAILS', cell: ({ unguarded }) => (unguarded ? 'UNGUARDED' : 'policies') },
  { header: 'WHY', cell: ({ why }) => why },
];

/** The status of an installation as text. */
export function statusText(view: StatusView, isWide: boolean): string {
  const { operator, gateways, bindings, workloads, policies, collections, agents, agentVersions } = view;
  const standby = operator.replicas.filter(({ name }) => name !== operator.holder).map(processText);
  return [
    `Operator: ${operator.message}${standby.length === 0 ? '' : ` Standby: ${standby.join(', ')}.`}`,
    textOfTable(gateways, replicaColumns, isWide, 'No gateway replica has reported.'),
    textOfTable(bindings, bindingColumns, isWide, 'There is no binding.'),
    textOfTable(workloads, workloadColumns, isWide, 'There is no workload.'),
    ...(policies === undefined ? [] : [textOfTable(policies, policyColumns, isWide, '')]),
    ...(collections === undefined ? [] : [textOfTable(collections, collectionColumns, isWide, '')]),
    ...(agents === undefined ? [] : [textOfTable(agents, agentColumns, isWide, '')]),
    ...(agentVersions === undefined ? [] : [textOfTable(agentVersions, agentVersionColumns, isWide, '')]),
  ].join('\n\n');
}

function processText({ name, problem }: StatusView['operator']['replicas'][number]): string {
  return problem === undefined ? name : `${name} (${problem})`;
}

function whyOfReplica({ problem, rejected, pending, stale }: ReplicaRow): string | undefined {
  const [first] = rejected;
  if (problem !== undefined) return problem;
  if (first !== undefined) return `${first.route}: ${first.reason}`;
  const waiting = [...pending, ...stale];
  return waiting.length === 0
    ? undefined
    : `waits for ${waiting.slice(0, 3).join(', ')}${waiting.length > 3 ? ', …' : ''}`;
}
