import type { Agent } from '#resources/agent';
import { agentUnguardingProblem, versionUnguardingProblem } from '#resources/agent-protection';
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
  weakeningProblem,
} from '#resources/protection';
import { invalid } from './api-refusal.ts';
import type { WriteDecision } from './decide-create.ts';
import type { ResourceStore } from './resource-store.ts';
import { decodeStoredObject, type StoredObject } from './stored-object.ts';

/**
 * Refuses a patch that removes or reduces the protection of a binding, or serves a version of an agent with fewer checks,
 * without a confirmation, as the admission policies of a cluster do. The store decides first, so that an invalid patch is refused for
 * its own reason.
 */
export function refuseUnguarding(
  store: Pick<ResourceStore, 'get'>,
  kind: Kind,
  current: StoredObject | undefined,
  decision: WriteDecision,
): WriteDecision {
  if (current === undefined || decision.act !== 'put') return decision;
  const before = (): Stored<Resource> => decodeStoredObject(current);
  const after = decision.object;
  if (kind.kind === kinds.modelBinding.kind) {
    const binding = bindingOf(before());
    refuseField(current, 'spec.guardrail.mode', unguardingProblem(binding, bindingOf(after)));
    refuseField(current, 'spec', weakeningProblem(binding, bindingOf(after)));
  }
  if (kind.kind === kinds.agent.kind) {
    const problem = agentUnguardingProblem(before() as Stored<Agent>, after as Stored<Agent>, (name) => {
      const version = store.get(kinds.agentVersion, name);
      return version === undefined ? undefined : (decodeStoredObject(version) as Stored<AgentVersion>);
    });
    refuseField(current, 'spec.version', problem);
  }
  return decision;
}

/** Refuses a new version of an agent that loses checks of the Agent that already names it, as in a cluster. */
export function refuseUnguardedVersion(
  store: Pick<ResourceStore, 'get'>,
  kind: Kind,
  decision: WriteDecision,
): WriteDecision {
  if (kind.kind !== kinds.agentVersion.kind || decision.act !== 'put') return decision;
  const version = decision.object as Stored<AgentVersion>;
  const agent = store.get(kinds.agent, version.spec.agent);
  const problem =
    agent === undefined ? undefined : versionUnguardingProblem(version, decodeStoredObject(agent) as Stored<Agent>);
  if (problem !== undefined) {
    throw invalid(kind, version.metadata.name, [{ field: 'spec.guardrails', message: problem }]);
  }
  return decision;
}

function refuseField({ kind, name }: StoredObject, field: string, message: string | undefined): void {
  if (message !== undefined) throw invalid(kind, name, [{ field, message }]);
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

/** The schema of the kind has validated the stored objects. */
function bindingOf(object: Stored<Resource>): Stored<ModelBinding> {
  return object as Stored<ModelBinding>;
}
