import type { Explanation } from './explain-binding.ts';

/** The pages of docs/runbooks that belong to a binding which needs attention, without their ending. */
export const bindingRunbooks = [
  'no-leader',
  'provider-unreachable',
  'rule-errors',
  'binding-failed',
  'binding-pending',
  'model-unguarded',
  'gateway-degraded',
] as const;

/** The runbook for the first cause of a binding that needs attention; undefined if there is no problem. */
export function runbookOf({
  state,
  cause,
}: Pick<Explanation, 'state' | 'cause'>): (typeof bindingRunbooks)[number] | undefined {
  if (cause === undefined) return undefined;
  if (cause.part === 'Operator') return 'no-leader';
  if (cause.part === 'Provider') return cause.rule === undefined ? 'provider-unreachable' : 'rule-errors';
  switch (state) {
    case 'failed':
      return 'binding-failed';
    case 'pending':
    case 'deleting':
      return 'binding-pending';
    case 'unguarded':
      return 'model-unguarded';
    case 'applied':
    case 'disabled':
      return 'gateway-degraded';
  }
}
