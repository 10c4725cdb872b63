import type { KubeClient } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { AgentVersion } from '#resources/agent-version';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { type PolicyUser, usersOfPolicy } from '#resources/protection';

/** All resources that refer to a policy, and the bindings whose route still serves one of its revisions. */
export async function readPolicyUsers(
  client: KubeClient,
  policy: Stored<GuardrailPolicy>,
): Promise<readonly PolicyUser[]> {
  const { items: bindings } = await listAll<ModelBinding>(client, kinds.modelBinding);
  const { items: routes } = await listAll<GatewayRoute>(client, kinds.gatewayRoute);
  const { items: versions } = await listAll<AgentVersion>(client, kinds.agentVersion);
  const id = policy.metadata.labels?.[idLabel];
  const serving = routes.filter(
    ({ spec: { guardrail } }) => id !== undefined && guardrail.mode === 'Policy' && guardrail.policyId === id,
  );
  const users = usersOfPolicy(policy, { bindings, versions });
  // A route has the name of its binding.
  const served = serving.map(({ metadata }) => ({ kind: 'ModelBinding', name: metadata.name }) as const);
  return (['ModelBinding', 'AgentVersion', 'ServedPolicy'] as const).flatMap((kind) =>
    [...new Set([...users, ...served].filter((user) => user.kind === kind).map(({ name }) => name))]
      .toSorted()
      .map((name) => ({ kind, name })),
  );
}

/** Why a policy that is being deleted still exists, as reported by the operator; undefined for any other policy. */
export function deletionOf({ metadata, status }: Stored<GuardrailPolicy>): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.reason === 'DeletionHeld' ? ready.message : 'the operator has not processed the deletion yet';
}

/** A line with the reason why a policy under deletion still exists; none for other resources. */
export function deletionLines(resource: Stored<Resource>): readonly string[] {
  if (resource.kind !== kinds.guardrailPolicy.kind) return [];
  const reason = deletionOf(resource as Stored<GuardrailPolicy>);
  return reason === undefined ? [] : [`GuardrailPolicy ${resource.metadata.name} is being deleted: ${reason}`];
}
