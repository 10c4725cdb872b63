import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

/** Names of the bindings that name a policy in their spec, or whose route still serves one of its revisions. */
export async function bindingsOfPolicy(
  client: KubeClient,
  { metadata }: Stored<GuardrailPolicy>,
): Promise<readonly string[]> {
  const { items: bindings } = await listAll<ModelBinding>(client, kinds.modelBinding);
  const { items: routes } = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
  const id = metadata.labels?.[idLabel];
  const naming = bindings.filter(
    ({ spec: { guardrail } }) => guardrail.mode === 'Policy' && guardrail.policyRef.name === metadata.name,
  );
  const serving = routes.filter(
    ({ spec: { guardrail } }) => id !== undefined && guardrail.mode === 'Policy' && guardrail.policyId === id,
  );
  // Routes are found by name: a route has the name of its binding.
  return [...new Set([...naming, ...serving].map((object) => object.metadata.name))].toSorted();
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
