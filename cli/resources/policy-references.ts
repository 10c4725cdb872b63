import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { AgentVersion } from '#resources/agent-version';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

/** A resource that refers to a policy. */
export type PolicyUser = { readonly kind: 'ModelBinding' | 'AgentVersion'; readonly name: string };

/**
 * The bindings that name a policy in their spec, or whose route still serves one of its revisions, and the versions of
 * agents that name it.
 */
export async function usersOfPolicy(
  client: KubeClient,
  { metadata }: Stored<GuardrailPolicy>,
): Promise<readonly PolicyUser[]> {
  const { items: bindings } = await listAll<ModelBinding>(client, kinds.modelBinding);
  const { items: routes } = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
  const { items: versions } = await listAll<AgentVersion>(client, kinds.agentVersion);
  const id = metadata.labels?.[idLabel];
  const naming = bindings.filter(({ spec }) => namesPolicy(spec.guardrail, metadata.name));
  const serving = routes.filter(
    ({ spec: { guardrail } }) => id !== undefined && guardrail.mode === 'Policy' && guardrail.policyId === id,
  );
  const agents = versions.filter(({ spec: { guardrails } }) =>
    [guardrails.input, guardrails.output].some((guardrail) => namesPolicy(guardrail, metadata.name)),
  );
  // Routes are found by name: a route has the name of its binding.
  return [...users('ModelBinding', [...naming, ...serving]), ...users('AgentVersion', agents)];
}

type Guardrail = AgentVersion['spec']['guardrails']['input'];

function namesPolicy(guardrail: Guardrail | ModelBinding['spec']['guardrail'], policy: string): boolean {
  return guardrail.mode === 'Policy' && guardrail.policyRef.name === policy;
}

function users(kind: PolicyUser['kind'], found: readonly Stored<Resource>[]): readonly PolicyUser[] {
  return [...new Set(found.map(({ metadata }) => metadata.name))].toSorted().map((name) => ({ kind, name }));
}

/** Why a policy that is being deleted still exists, as reported by the operator; undefined for any other policy. */
export function deletionOf({ metadata, status }: Stored<GuardrailPolicy>): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.reason === 'DeletionHeld' ? ready.message : 'the operator has not processed the deletion yet';
}

/** A line that says why a policy under deletion still exists; none for other resources. */
export function deletionLines(resource: Stored<Resource>): readonly string[] {
  if (resource.kind !== kinds.guardrailPolicy.kind) return [];
  const reason = deletionOf(resource as Stored<GuardrailPolicy>);
  return reason === undefined ? [] : [`GuardrailPolicy ${resource.metadata.name} is being deleted: ${reason}`];
}
