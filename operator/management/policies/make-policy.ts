import type { PolicyCreate, PolicyReplace } from '#contracts/management';
import { type ChangeNote, changeNoteAnnotation, writeChangeNote } from '#resources/change-note';
import type { GuardrailPolicy, GuardrailPolicySpec, PolicyTest } from '#resources/guardrail-policy';
import { apiVersion, idLabel, kinds } from '#resources/kinds';
import { nameSchema } from '#resources/metadata';

/** The value of spec.change of a write of this API: its operation and the generation that the write creates. */
export function changeToken(operationId: string, generation: number): string {
  return `${operationId}/${generation}`;
}

/** The operation in a token; undefined if another client wrote the token. */
export function operationOfToken(
  token: string,
): { readonly operationId: string; readonly generation: number } | undefined {
  const found = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/([1-9]\d{0,14})$/.exec(token);
  if (found === null) return undefined;
  return { operationId: found[1] as string, generation: Number(found[2]) };
}

/** The object name of a policy that this API creates, if its display name does not give one. */
export function policyObjectName(id: string): string {
  return `p-${id}`;
}

/**
 * The object names for a new policy, best first: its display name in the form of Kubernetes, the same with the end of
 * the id, and the id, which no other policy has.
 */
export function objectNamesFor(id: string, displayName: string): readonly string[] {
  const readable = displayName
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/[.-]+$/, '');
  const names = [readable, `${readable}-${id.slice(-8)}`].filter((name) => nameSchema.safeParse(name).success);
  return [...names, policyObjectName(id)];
}

export function newPolicySpec(body: PolicyCreate, operationId: string): GuardrailPolicySpec {
  const { name, description, definition } = body;
  return { displayName: name, description, lifecycle: 'Draft', definition, change: changeToken(operationId, 1) };
}

/** The members of a policy that the bodies of this API do not have. */
type Kept = { readonly tests?: readonly PolicyTest[] | undefined; readonly refusalText?: string | undefined };

/** The next version. Tests and refusal text are kept, because this API does not contain them. */
export function nextPolicySpec(body: PolicyReplace, { tests, refusalText }: Kept, token: string): GuardrailPolicySpec {
  const { name, description, definition, status } = body;
  return {
    displayName: name,
    description,
    lifecycle: status === 'archived' ? 'Archived' : 'Draft',
    definition,
    ...(refusalText === undefined ? {} : { refusalText }),
    ...(tests === undefined ? {} : { tests: [...tests] }),
    change: token,
  };
}

export function newPolicyObject(
  { id, name }: { readonly id: string; readonly name: string },
  spec: GuardrailPolicySpec,
  note?: ChangeNote,
): GuardrailPolicy {
  const annotations =
    note === undefined ? {} : { annotations: { [changeNoteAnnotation]: writeChangeNote(spec.change ?? '', note) } };
  return {
    apiVersion,
    kind: kinds.guardrailPolicy.kind,
    metadata: { name, labels: { [idLabel]: id }, ...annotations },
    spec,
  };
}
