import type { BindingRead, OperationResource, PolicyDetail, PolicySummary } from '#contracts/management';
import { unguarded } from '../output/resource-table.ts';
import { tableOf, yamlOf } from '../output/write.ts';

/** Policies or revisions as a table. */
export function policyTable(policies: readonly PolicySummary[], isWide: boolean): string {
  const header = ['ID', 'NAME', 'REVISION', 'STATUS', 'RULES', 'UPDATED'];
  const rows = policies.map((policy) => [
    policy.id,
    policy.name,
    String(policy.revision),
    policy.status,
    String(policy.ruleCount),
    policy.updatedAt,
    ...(isWide ? [policy.definitionDigest.slice(0, 12), policy.ruleKinds.join(',') || '-'] : []),
  ]);
  return tableOf([isWide ? [...header, 'DEFINITION', 'KINDS'] : header, ...rows]);
}

export function describePolicy(policy: PolicyDetail): string {
  const facts = tableOf([
    ['Id:', policy.id],
    ['Name:', policy.name],
    ['Description:', policy.description === '' ? '-' : policy.description],
    ['Revision:', String(policy.revision)],
    ['Status:', policy.status],
    ['Rules:', `${policy.ruleCount} (${policy.ruleKinds.join(', ')})`],
    ['Definition:', policy.definitionDigest],
    ['Created:', policy.createdAt],
    ['Updated:', policy.updatedAt],
  ]);
  return `${facts}\n\n${yamlOf({ definition: policy.definition })}`;
}

export function bindingText(binding: BindingRead): string {
  const { observation } = binding;
  const { reason, serving, confirmed, expected, rejected } = observation;
  return tableOf([
    ['Model:', binding.modelId],
    ['Gateway:', binding.gatewayName],
    ['State:', reason === null ? binding.state : `${binding.state} (${reason})`],
    ['Desired:', binding.binding === null ? unguarded : policyOf(binding.binding)],
    ['Serving:', policyOf(serving)],
    ['Confirmed:', `${confirmed} of ${expected} gateway replicas${rejected === 0 ? '' : `, ${rejected} rejected it`}`],
    ['Operation:', binding.operationId ?? '-'],
    ['Model revision:', String(binding.modelRevision)],
  ]);
}

function policyOf(applied: BindingRead['binding']): string {
  if (applied === null) return 'nothing';
  if (applied.policyRevision === null) return unguarded;
  return `policy ${applied.policyId ?? '(not found)'} revision ${applied.policyRevision}`;
}

export function operationText({ operationId, kind, state, target, result, error }: OperationResource): string {
  const revision = result !== null && 'revision' in result ? `, revision ${result.revision}` : '';
  const outcome = error === null ? `${state}${revision}` : `${state} (${error.code})`;
  return `${kind} of ${target.type} ${target.id}: ${outcome}\nOperation: ${operationId}`;
}
