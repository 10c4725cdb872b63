import type { AgentVersion } from '#resources/agent-version';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { type Kind, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import {
  bindingDeletionProblem,
  type PolicyReferrers,
  policyDeletionProblem,
  unguardingProblem,
} from '#resources/protection';
import { invalid } from './api-refusal.ts';
import type { WriteDecision } from './decide-create.ts';
import type { ResourceStore } from './resource-store.ts';
import { decodeStoredObject, type StoredObject } from './stored-object.ts';

/**
 * Refuses a patch that removes the guardrail of a binding without a confirmation, as the admission policies of a
 * cluster do. The store decides first, so that an invalid patch is refused for its own reason.
 */
export function refuseUnguarding(
  kind: Kind,
  current: StoredObject | undefined,
  decision: WriteDecision,
): WriteDecision {
  if (kind.kind !== kinds.modelBinding.kind || current === undefined || decision.act !== 'put') return decision;
  const problem = unguardingProblem(bindingOf(decodeStoredObject(current)), bindingOf(decision.object));
  if (problem !== undefined) throw invalid(kind, current.name, [{ field: 'spec.guardrail.mode', message: problem }]);
  return decision;
}

/** Refuses a deletion that removes protection and is not confirmed. Garbage collection of dependents is exempt. */
export function refuseDeletion(
  store: Pick<ResourceStore, 'list'>,
  current: StoredObject,
  { decision, resourceVersion }: { readonly decision: WriteDecision; readonly resourceVersion?: string | undefined },
): WriteDecision {
  const { kind } = current;
  const object = decodeStoredObject(current);
  const problem =
    kind.kind === kinds.modelBinding.kind
      ? bindingDeletionProblem(bindingOf(object), { resourceVersion })
      : kind.kind === kinds.guardrailPolicy.kind
        ? policyDeletionProblem(object as Stored<GuardrailPolicy>, referrersIn(store), { resourceVersion })
        : undefined;
  if (problem !== undefined) throw invalid(kind, current.name, [{ field: 'metadata', message: problem }]);
  return decision;
}

function referrersIn(store: Pick<ResourceStore, 'list'>): PolicyReferrers {
  const all = <R extends Resource>(kind: Kind): readonly R[] =>
    store.list(kind).map((stored) => decodeStoredObject(stored) as Resource as R);
  return { bindings: all<ModelBinding>(kinds.modelBinding), versions: all<AgentVersion>(kinds.agentVersion) };
}

/** The schema of the kind has validated what the store holds. */
function bindingOf(object: Stored<Resource>): Stored<ModelBinding> {
  return object as Stored<ModelBinding>;
}
