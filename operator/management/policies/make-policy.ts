import type { PolicyCreate, PolicyReplace } from '#contracts/management';
import type { GuardrailPolicy, GuardrailPolicySpec, PolicyTest } from '#resources/guardrail-policy';
import { apiVersion, idLabel, kinds } from '#resources/kinds';

/** The token of a write of this API (DESIGN section 5): the operation and the generation that its write makes. */
export function changeToken(operationId: string, generation: number): string {
  return `${operationId}/${generation}`;
}

/** The operation that a token names; undefined where the token is not of this API. */
export function operationOfToken(
  token: string,
): { readonly operationId: string; readonly generation: number } | undefined {
  const found = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/([1-9]\d{0,14})$/.exec(token);
  if (found === null) return undefined;
  return { operationId: found[1] as string, generation: Number(found[2]) };
}

/** The name of the object of a policy that this API makes. */
export function policyObjectName(id: string): string {
  return `p-${id}`;
}

export function newPolicySpec(body: PolicyCreate, operationId: string): GuardrailPolicySpec {
  const { name, description, definition } = body;
  return { displayName: name, description, lifecycle: 'Draft', definition, change: changeToken(operationId, 1) };
}

/** The next version: everything is replaced but the tests, which the API does not know. */
export function nextPolicySpec(
  body: PolicyReplace,
  tests: readonly PolicyTest[] | undefined,
  token: string,
): GuardrailPolicySpec {
  const { name, description, definition, status } = body;
  return {
    displayName: name,
    description,
    lifecycle: status === 'archived' ? 'Archived' : 'Draft',
    definition,
    ...(tests === undefined ? {} : { tests: [...tests] }),
    change: token,
  };
}

export function newPolicyObject(id: string, spec: GuardrailPolicySpec): GuardrailPolicy {
  return {
    apiVersion,
    kind: kinds.guardrailPolicy.kind,
    metadata: { name: policyObjectName(id), labels: { [idLabel]: id } },
    spec,
  };
}
