import type { Agent } from '#resources/agent';
import type { AgentRoute } from '#resources/agent-route';
import type { AgentVersion } from '#resources/agent-version';
import type { CollectionResource } from '#resources/collection';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import type { Kind } from '#resources/kinds';
import type { Condition, Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { resourceName } from './format.ts';

type Column<R extends Resource> = {
  readonly header: string;
  /** The column is shown with `-o wide` only. */
  readonly wide?: true;
  readonly cell: (resource: Stored<R>) => string | number | undefined;
};

/** The warning about an unguarded binding: requests to this model and its answers are not checked. */
export const unguarded = 'UNGUARDED';

const policyColumns: readonly Column<GuardrailPolicy>[] = [
  { header: 'REVISION', cell: ({ status }) => status?.latestRevision?.number },
  { header: 'ACCEPTED', cell: ({ status }) => conditionStatus(status?.conditions, 'Accepted') },
  { header: 'LIFECYCLE', cell: ({ metadata, spec }) => (isDeleting(metadata) ? 'Deleting' : spec.lifecycle) },
  { header: 'TESTS', cell: ({ spec }) => spec.tests?.length ?? 0 },
  { header: 'DISPLAY NAME', wide: true, cell: ({ spec }) => spec.displayName },
];

const revisionColumns: readonly Column<PolicyRevision>[] = [
  { header: 'POLICY', cell: ({ spec }) => spec.policy.name },
  { header: 'NUMBER', cell: ({ spec }) => spec.number },
  { header: 'RULES', cell: ({ spec }) => spec.ruleCount },
  { header: 'DEFINITION', cell: ({ spec }) => spec.definitionDigest.slice(0, 12) },
  { header: 'KINDS', wide: true, cell: ({ spec }) => spec.ruleKinds.join(',') },
];

const bindingColumns: readonly Column<ModelBinding>[] = [
  { header: 'ALIAS', cell: ({ spec }) => spec.model.alias },
  {
    header: 'POLICY',
    cell: ({ spec }) => (spec.guardrail.mode === 'Policy' ? spec.guardrail.policyRef.name : unguarded),
  },
  {
    header: 'REVISION',
    cell: ({ spec }) => (spec.guardrail.mode === 'Policy' ? spec.guardrail.policyRef.revision : undefined),
  },
  { header: 'SERVES', cell: ({ status }) => status?.pinned && (status.pinned.policyRevision ?? unguarded) },
  {
    header: 'APPLIED',
    cell: ({ metadata, status }) =>
      isDeleting(metadata) ? 'Deleting' : conditionStatus(status?.conditions, 'Applied'),
  },
  { header: 'READY', cell: ({ status }) => conditionStatus(status?.conditions, 'Ready') },
  { header: 'REACHABLE', cell: ({ status }) => conditionStatus(status?.conditions, 'ProviderReachable') },
  { header: 'DIGEST', wide: true, cell: ({ status }) => status?.pinned?.digest?.slice(0, 12) },
  { header: 'PROVIDER', wide: true, cell: ({ spec }) => spec.model.provider },
  {
    header: 'REASON',
    wide: true,
    cell: ({ status }) => conditionReason(status?.conditions),
  },
];

const generationColumns: readonly Column<RuntimeWorkload>[] = [
  { header: 'STATE', cell: ({ status }) => status?.state },
  { header: 'REPLICAS', cell: ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec.replicas}` },
  { header: 'DIGEST', cell: ({ spec }) => spec.digest.slice(0, 12) },
  { header: 'BUILD', cell: ({ spec }) => spec.build },
  { header: 'ADDRESSES', wide: true, cell: ({ status }) => status?.addresses?.join(',') },
];

const routeColumns: readonly Column<GatewayRoute>[] = [
  { header: 'ALIAS', cell: ({ spec }) => spec.alias },
  { header: 'GUARDRAIL', cell: ({ spec }) => spec.guardrail.mode },
  { header: 'STATE', cell: ({ spec }) => spec.state },
  { header: 'WORKLOAD', cell: ({ spec }) => spec.workload },
  { header: 'GENERATION', wide: true, cell: ({ spec }) => spec.generationId },
];

const reportColumns: readonly Column<GatewayReport>[] = [
  { header: 'GATEWAY', cell: ({ spec }) => spec.gateway },
  { header: 'READY', cell: ({ spec }) => String(spec.ready) },
  { header: 'PENDING', cell: ({ spec }) => spec.pending.length },
  { header: 'REJECTED', cell: ({ spec }) => spec.rejected.length },
  { header: 'THROUGH', wide: true, cell: ({ spec }) => spec.appliedThrough },
];

const collectionColumns: readonly Column<CollectionResource>[] = [
  { header: 'TENANT', cell: ({ spec }) => spec.tenant },
  { header: 'COLLECTION', cell: ({ spec }) => spec.name },
  { header: 'DOCUMENTS', cell: ({ status }) => status?.documents },
  { header: 'PROFILE', cell: ({ status }) => status?.embeddingProfile },
  { header: 'REINDEX', cell: ({ status }) => reindexText(status?.reindex) },
  {
    header: 'READY',
    cell: ({ metadata, status }) => (isDeleting(metadata) ? 'Deleting' : conditionStatus(status?.conditions, 'Ready')),
  },
  { header: 'CHUNKS', wide: true, cell: ({ status }) => status?.chunks },
  { header: 'DELETION', wide: true, cell: ({ spec }) => spec.deletionPolicy },
  { header: 'ID', wide: true, cell: ({ status }) => status?.collectionId },
  {
    header: 'REASON',
    wide: true,
    cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.reason,
  },
];

/** The progress of a reindex: `3/12`, or that it failed. */
function reindexText(reindex: NonNullable<CollectionResource['status']>['reindex']): string | undefined {
  if (reindex === undefined) return undefined;
  return reindex.state === 'Failed' ? 'Failed' : `${reindex.documentsDone}/${reindex.documentsTotal}`;
}

const agentVersionColumns: readonly Column<AgentVersion>[] = [
  { header: 'AGENT', cell: ({ spec }) => spec.agent },
  { header: 'TESTED', cell: ({ status }) => conditionStatus(status?.conditions, 'Tested') },
  { header: 'CARD', cell: ({ status }) => conditionStatus(status?.conditions, 'CardVerified') },
  { header: 'INPUT', cell: ({ spec }) => guardrailText(spec.guardrails.input) },
  { header: 'OUTPUT', cell: ({ spec }) => guardrailText(spec.guardrails.output) },
  {
    header: 'READY',
    cell: ({ metadata, status }) => (isDeleting(metadata) ? 'Deleting' : conditionStatus(status?.conditions, 'Ready')),
  },
  { header: 'VERSION', wide: true, cell: ({ status }) => status?.versionId },
  { header: 'WORKLOAD', wide: true, cell: ({ status }) => status?.workload },
  { header: 'IMAGE', wide: true, cell: ({ spec }) => spec.sdk?.image },
  {
    header: 'REASON',
    wide: true,
    cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.reason,
  },
];

function guardrailText(guardrail: AgentVersion['spec']['guardrails']['input']): string {
  if (guardrail.mode === 'None') return unguarded;
  return `${guardrail.policyRef.name}@${guardrail.policyRef.revision}`;
}

const agentColumns: readonly Column<Agent>[] = [
  { header: 'VERSION', cell: ({ spec }) => spec.version },
  { header: 'SERVING', cell: ({ status }) => status?.served?.version },
  { header: 'CANARY', cell: ({ status }) => canaryText(status?.canary) },
  { header: 'ACCEPTED', cell: ({ status }) => conditionStatus(status?.conditions, 'RouteAccepted') },
  {
    header: 'READY',
    cell: ({ metadata, status }) => (isDeleting(metadata) ? 'Deleting' : conditionStatus(status?.conditions, 'Ready')),
  },
  { header: 'ACCESS', wide: true, cell: ({ status }) => conditionStatus(status?.conditions, 'AccessConsistent') },
  { header: 'WORKSPACE', wide: true, cell: ({ spec }) => spec.workspace },
  { header: 'URL', wide: true, cell: ({ status }) => status?.url },
  {
    header: 'REASON',
    wide: true,
    cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.reason,
  },
];

/** The version on trial with its share: `handbook-2 10%`. */
function canaryText(canary: NonNullable<Agent['status']>['canary']): string | undefined {
  return canary === undefined ? undefined : `${canary.version} ${canary.percent}%`;
}

const agentRouteColumns: readonly Column<AgentRoute>[] = [
  { header: 'AGENT', cell: ({ spec }) => spec.agent.name },
  { header: 'SERVED', cell: ({ spec }) => nameOfVersion(spec, spec.served) },
  { header: 'CANARY', cell: ({ spec }) => nameOfVersion(spec, spec.canary?.versionId) },
  { header: 'EXPOSURE', cell: ({ spec }) => spec.exposure },
  { header: 'VERSIONS', wide: true, cell: ({ spec }) => spec.versions.map(({ version }) => version).join(',') },
  { header: 'REFUSED', wide: true, cell: ({ spec }) => spec.refused?.reason },
];

function nameOfVersion({ versions }: AgentRoute['spec'], id: string | undefined): string | undefined {
  return versions.find(({ versionId }) => versionId === id)?.version;
}

const columns: Readonly<Record<string, readonly Column<never>[]>> = {
  GuardrailPolicy: policyColumns,
  PolicyRevision: revisionColumns,
  ModelBinding: bindingColumns,
  RuntimeWorkload: generationColumns,
  GatewayRoute: routeColumns,
  GatewayReport: reportColumns,
  Collection: collectionColumns,
  AgentVersion: agentVersionColumns,
  Agent: agentColumns,
  AgentRoute: agentRouteColumns,
};

/** Settings of a table in addition to the columns of its kind. */
export type TableView = {
  readonly isWide: boolean;
  readonly showsLabels?: boolean;
  readonly showsNamespaces?: boolean;
  /** Whether names are prefixed with their kind, because several kinds are shown. */
  readonly namesKinds?: boolean;
  readonly now: Date;
};

/** The header of a table and a row for each resource, in cells. */
type ResourceRows = { readonly header: readonly string[]; readonly rows: readonly (readonly string[])[] };

export function resourceRows(kind: Kind, resources: readonly Stored<Resource>[], view: TableView): ResourceRows {
  const { isWide, showsLabels = false, showsNamespaces = false, namesKinds = false, now } = view;
  const shown = (columns[kind.kind] ?? []).filter((column) => isWide || column.wide === undefined);
  const only = <T>(isShown: boolean, value: T): readonly T[] => (isShown ? [value] : []);
  const header = [
    ...only(showsNamespaces, 'NAMESPACE'),
    'NAME',
    ...shown.map((column) => column.header),
    'AGE',
    ...only(showsLabels, 'LABELS'),
  ];
  // The kind of a resource decides its columns.
  const rows = resources.map((resource) => [
    ...only(showsNamespaces, resource.metadata.namespace ?? '-'),
    namesKinds ? resourceName(kind.kind, resource.metadata.name) : resource.metadata.name,
    ...shown.map(({ cell }) => String(cell(resource as never) ?? '-')),
    ageOf(resource.metadata.creationTimestamp, now),
    ...only(showsLabels, labelText(resource.metadata.labels)),
  ]);
  return { header, rows };
}

/** Labels as `key=value`, separated by commas as kubectl writes them. */
function labelText(labels: Readonly<Record<string, string>> = {}): string {
  const all = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return all.length === 0 ? '<none>' : all.join(',');
}

function isDeleting({ deletionTimestamp }: Stored<Resource>['metadata']): boolean {
  return deletionTimestamp !== undefined;
}

function conditionStatus(conditions: readonly Condition[] | undefined, type: string): string | undefined {
  return conditions?.find((condition) => condition.type === type)?.status;
}

/** The reason of a binding's outcome; for an applied binding, the reason why its provider cannot be used. */
function conditionReason(conditions: readonly Condition[] | undefined): string | undefined {
  const said = (type: string) => conditions?.find((condition) => condition.type === type);
  const provider = said('ProviderReachable');
  const isApplied = said('Applied')?.status === 'True';
  return isApplied && provider?.status === 'False' ? provider.reason : said('Applied')?.reason;
}

/** The time since an instant in its largest unit, as kubectl prints ages. */
function ageOf(since: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
