import type { ModelBinding } from '#resources/model-binding';
import { type EventNote, transitionEvents, type Watched } from '../../../events/transition-events.ts';
import type { Settlement } from '../snapshot/steps.ts';

const watched: readonly Watched[] = [
  { type: 'Accepted', status: 'False', as: { type: 'Warning', action: 'Accept' } },
  { type: 'ProviderReachable', status: 'False', as: { type: 'Warning', action: 'Call' } },
  { type: 'RouteRejected', status: 'True', reason: 'RouteRejected', as: { type: 'Warning', action: 'Apply' } },
];

/** Events of one pass over a binding: its outcome, reported once, and conditions that became unhealthy. */
export function bindingEvents(
  before: ModelBinding['status'],
  after: ModelBinding['status'],
  { outcome }: Pick<Settlement, 'outcome'>,
): readonly EventNote[] {
  const transitions = transitionEvents(before?.conditions, after?.conditions, watched);
  if (outcome === undefined) return transitions;
  const note = after?.conditions?.find(({ type }) => type === 'Applied')?.message ?? '';
  const isUnguarded = outcome.outcome === 'Applied' && outcome.policyRevision === undefined;
  const said = isUnguarded ? unguarded : outcomes[outcome.outcome];
  return [...transitions, { ...said, action: 'Apply', note }];
}

const unguarded = { type: 'Warning', reason: 'Unguarded' } as const;
const outcomes = {
  Applied: { type: 'Normal', reason: 'Applied' },
  Failed: { type: 'Warning', reason: 'ApplicationFailed' },
} as const;
