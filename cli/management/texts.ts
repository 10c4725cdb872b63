import type { BindingRead, OperationResource } from '#contracts/management';
import { unguarded } from '../output/resource-table.ts';
import { tableOf } from '../output/write.ts';

/** The state of a binding as the management API computes it. */
export function bindingText(binding: BindingRead): string {
  const { observation } = binding;
  const { reason, cause, whatToDo, serving, confirmed, expected, rejected } = observation;
  return tableOf([
    ['Gateway:', binding.gatewayName],
    ['Binding:', reason === null ? binding.state : `${binding.state} (${reason})`],
    ['Desired:', binding.binding === null ? unguarded : policyOf(binding.binding)],
    ['Serving:', policyOf(serving)],
    ['Confirmed:', `${confirmed} of ${expected} gateway replicas${rejected === 0 ? '' : `, ${rejected} rejected it`}`],
    ...(cause === null ? [] : [['Cause:', cause]]),
    ...(whatToDo === null ? [] : [['What to do:', whatToDo]]),
  ]);
}

function policyOf(applied: BindingRead['binding']): string {
  if (applied === null) return 'nothing';
  if (applied.policyRevision === null) return unguarded;
  return `revision ${applied.policyRevision}${applied.policyId === null ? ' of a policy that was deleted' : ''}`;
}

/** The state of a command and the reason of its failure; the id of its target only in wide output. */
export function operationText(
  { operationId, kind, state, target, result, error }: OperationResource,
  isWide: boolean,
): string {
  const revision = result !== null && 'revision' in result ? `, revision ${result.revision}` : '';
  const outcome = error === null ? `${state}${revision}` : `${state} (${error.code})`;
  const changed = isWide ? ` of ${target.type} ${target.id}` : '';
  const why = error === null ? '' : `\n${error.cause ?? error.message}`;
  return `${kind}${changed}: ${outcome}${why}\nOperation: ${operationId}`;
}
