import type { Definition } from '#contracts/policy';
import { currentProfile } from '#contracts/profiles';
import { until } from '#kit/testing/until';
import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy, PolicyTest } from '#resources/guardrail-policy';
import { apiVersion, kinds } from '#resources/kinds';
import type { Condition, Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';

/** A policy object. */
export function policyOf(name: string, definition: Definition, tests: readonly PolicyTest[] = []): GuardrailPolicy {
  return {
    apiVersion,
    kind: 'GuardrailPolicy',
    metadata: { name },
    spec: { displayName: name, description: '', lifecycle: 'Draft', definition, tests: [...tests] },
  };
}

/** A binding object that is guarded by a revision of a policy. */
export function bindingOf(name: string, policy: string, revision: number, provider = 'scripted'): ModelBinding {
  return {
    apiVersion,
    kind: 'ModelBinding',
    metadata: { name },
    spec: {
      model: { alias: name, provider, upstreamModel: 'scripted', state: 'Enabled' },
      gateway: 'default',
      guardrail: { mode: 'Policy', policyRef: { name: policy, revision } },
      contentProfile: currentProfile,
      replicas: 1,
    },
  };
}

type WithConditions = {
  readonly metadata: { readonly generation: number };
  readonly status?: { readonly conditions?: readonly Condition[] | undefined } | undefined;
};

/** A condition for the current generation of an object. */
export function conditionOf(object: WithConditions | undefined, type: string): Condition | undefined {
  const found = object?.status?.conditions?.find((condition) => condition.type === type);
  return found?.observedGeneration === object?.metadata.generation ? found : undefined;
}

export async function bindingNow(client: KubeClient, name: string): Promise<Stored<ModelBinding>> {
  const binding = await client.get<ModelBinding>(kinds.modelBinding, name);
  if (binding === undefined) throw new Error(`there is no binding ${name}`);
  return binding;
}

const polling = { everyMs: 50 };

/** Waits until a condition of the binding's current generation has this status; returns the condition. */
export function bindingCondition(
  client: KubeClient,
  name: string,
  type: string,
  status: Condition['status'],
): Promise<Condition> {
  return until(
    `condition ${type} of the binding ${name} becomes ${status}`,
    async () => {
      const found = conditionOf(await bindingNow(client, name), type);
      if (found?.status === status) return found;
      throw new Error(`${found?.status ?? 'not yet reconciled'}: ${found?.message ?? ''}`);
    },
    polling,
  );
}

/** Writes a new state of a policy and waits for its revision; returns the revision number. */
export async function writePolicy(client: KubeClient, policy: GuardrailPolicy): Promise<number> {
  const { name } = policy.metadata;
  const before = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
  const written =
    before === undefined
      ? await client.create<GuardrailPolicy>(kinds.guardrailPolicy, policy)
      : await client.patch<GuardrailPolicy>(kinds.guardrailPolicy, name, [
          { op: 'test', path: '/metadata/uid', value: before.metadata.uid },
          { op: 'replace', path: '/spec', value: policy.spec },
        ]);
  return until(
    `the policy ${name} is recorded`,
    async () => {
      const now = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
      if ((now?.status?.observedGeneration ?? 0) < written.metadata.generation) return undefined;
      return now?.status?.latestRevision?.number;
    },
    polling,
  );
}

/** Sets the revision of a binding with a new token; returns the generation of this write. */
export async function applyRevision(
  client: KubeClient,
  name: string,
  revision: number,
  token: string,
): Promise<number> {
  const before = await bindingNow(client, name);
  const written = await client.patch<ModelBinding>(kinds.modelBinding, name, [
    { op: 'test', path: '/metadata/uid', value: before.metadata.uid },
    { op: 'replace', path: '/spec/guardrail/policyRef/revision', value: revision },
    { op: 'add', path: '/spec/apply', value: token },
  ]);
  return written.metadata.generation;
}
