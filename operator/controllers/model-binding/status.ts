import { setCondition } from '#kube/apply/conditions';
import type { Condition } from '#resources/metadata';
import type { ApplicationRecord, ModelBindingStatus } from '#resources/model-binding';
import { type Aspects, bindingConditions } from './conditions.ts';
import { addOutcome } from './ring.ts';
import type { Snapshot } from './snapshot.ts';
import type { Settlement } from './steps.ts';

/** The whole status at the end of a pass; equal to the present one where nothing happened. */
export function makeStatus(s: Snapshot, settlement: Settlement, aspects: Aspects, now: Date): ModelBindingStatus {
  const generationId = s.route?.spec.generationId;
  const record: ApplicationRecord | undefined =
    settlement.outcome === undefined ? undefined : { ...settlement.outcome, time: now.toISOString() };
  const ring = record === undefined ? s.ring : addOutcome(s.ring, record, generationId);
  return {
    conditions: makeConditions(s.conditions, aspects, s.binding.generation, now),
    observedGeneration: s.binding.generation,
    ...pinnedOf(s),
    ...(ring.length === 0 ? {} : { applications: [...ring] }),
  };
}

export function makeConditions(
  current: readonly Condition[],
  aspects: Aspects,
  observedGeneration: number,
  now: Date,
): Condition[] {
  let conditions: readonly Condition[] = current;
  for (const type of bindingConditions) {
    conditions = setCondition(conditions, { type, observedGeneration, ...aspects[type] }, now);
  }
  return [...conditions];
}

function pinnedOf(s: Snapshot): Pick<ModelBindingStatus, 'pinned'> {
  if (s.route === undefined) return {};
  const { generationId, guardrail } = s.route.spec;
  if (guardrail.mode === 'None') return { pinned: { generationId } };
  const { policyId, policyRevision, digest } = guardrail;
  return { pinned: { generationId, policyId, policyRevision, digest } };
}
