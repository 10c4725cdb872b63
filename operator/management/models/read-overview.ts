import { createHash } from 'node:crypto';
import type { Overview, OverviewModel } from '#contracts/overview';
import { appliedBy, appliedByText } from '#diagnosis/applied-by';
import type { BindingDependencies } from '#diagnosis/binding-dependencies';
import { explainBinding } from '#diagnosis/explain-binding';
import { routeStateOf } from '#diagnosis/route-state';
import { runbookOf } from '#diagnosis/runbook-of';
import type { GatewayReport } from '#resources/gateway-report';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { GatewayReplicas } from '../../gateways/ports.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import { isShownModel } from './find-model.ts';
import { knownDependencies, runningReports } from './known-dependencies.ts';
import { previousApplication } from './previous-application.ts';
import { withoutOwner } from './without-owner.ts';

type OverviewSources = {
  readonly caches: Pick<ManagementCaches, 'bindings' | 'policies' | 'revisions' | 'routes' | 'reports'>;
  readonly gateways: Pick<GatewayReplicas, 'isAlive'>;
  /** The command with which remedies begin: `portcullis` or `kubectl portcullis`. */
  readonly program: string;
};

/**
 * Every model, ordered by name, from the watched resources and the running replicas: no request to the resource server.
 * The words are those of `portcullis why`.
 * @param isOwnOnly whether the caller may read only some models: no model then names another one
 */
export async function readOverview(
  { caches, gateways, program }: OverviewSources,
  { isOwnOnly }: { readonly isOwnOnly: boolean },
): Promise<Overview> {
  const reports = await runningReports({ caches, gateways });
  const models = [...caches.bindings.list()].sort(byName).map((found): OverviewModel => {
    const binding = isOwnOnly ? withoutOwner(found) : found;
    const route = caches.routes.get(binding.metadata.name);
    const previous = previousApplication(binding, caches);
    return { ...overviewModel(knownDependencies({ caches, binding, route, reports }), program), previous };
  });
  return withMark({ models, deletingPolicies: deletingOf(caches.policies.list()) });
}

/** The part of an overview about these models and policies, by their ids, with a separate mark. */
export function partOfOverview(
  { models, deletingPolicies }: Overview,
  ids: { readonly models: readonly string[]; readonly policies: readonly string[] },
): Overview {
  return withMark({
    models: models.filter(({ modelId }) => modelId !== null && ids.models.includes(modelId)),
    deletingPolicies: deletingPolicies.filter((id) => ids.policies.includes(id)),
  });
}

function withMark({ models, deletingPolicies }: Omit<Overview, 'mark'>): Overview {
  const mark = createHash('sha256')
    .update(JSON.stringify([models, deletingPolicies]))
    .digest('base64url')
    .slice(0, 22);
  return { mark, models, deletingPolicies };
}

function deletingOf(policies: ReturnType<OverviewSources['caches']['policies']['list']>): string[] {
  return [...policies]
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .flatMap(({ metadata }) => metadata.labels?.[idLabel] ?? [])
    .sort();
}

function overviewModel(facts: BindingDependencies, program: string): Omit<OverviewModel, 'previous'> {
  const { binding, policy, route, reports } = facts;
  const { metadata, spec } = binding;
  const { guardrail } = spec;
  const { state, summary, serves, whatToDo, cause } = explainBinding(facts, program);
  const runbook = runbookOf(cause === undefined ? { state } : { state, cause });
  const note = appliedBy(binding);
  return {
    name: metadata.name,
    // The label of a copied object names a different model.
    modelId: isShownModel(binding) ? (metadata.labels?.[idLabel] ?? null) : null,
    alias: spec.model.alias,
    gateway: spec.gateway,
    state,
    wanted:
      guardrail.mode === 'Policy' ? { policy: guardrail.policyRef.name, revision: guardrail.policyRef.revision } : null,
    policyId: policy?.metadata.labels?.[idLabel] ?? null,
    serves,
    servesRevision: servedRevision(route),
    replicas: reports.map((report) => ({ name: report.metadata.name, state: replicaState(report, route) })),
    summary,
    isWell: cause === undefined,
    whatToDo: whatToDo ?? null,
    runbook: runbook ?? null,
    appliedBy: note === undefined ? null : appliedByText(note),
  };
}

function servedRevision(route: Stored<GatewayRoute> | undefined): string | null {
  return route?.spec.guardrail.mode === 'Policy' ? route.spec.guardrail.policyRevision : null;
}

function replicaState(
  report: Stored<GatewayReport>,
  route: Stored<GatewayRoute> | undefined,
): OverviewModel['replicas'][number]['state'] {
  if (!report.spec.ready || route === undefined) return 'not_ready';
  return routeStateOf(report, route).kind;
}

function byName(one: Stored<ModelBinding | GatewayReport>, other: Stored<ModelBinding | GatewayReport>): number {
  return one.metadata.name < other.metadata.name ? -1 : 1;
}
