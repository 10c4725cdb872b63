import { setCondition } from '#kube/apply/conditions';
import { bindingConditions } from '#resources/binding-state';
import type { Condition } from '#resources/metadata';
import { type ApplicationRecord, causeLimit, type ModelBindingStatus } from '#resources/model-binding';
import { addOutcome, isFinal } from '../../../applications/outcome-history.ts';
import { pinnedRecord } from '../route/pinned-route.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { PassResult, Settlement } from '../snapshot/steps.ts';
import type { Aspects } from './conditions.ts';

/** The whole status at the end of a pass; equal to the current status if nothing has changed. */
export function makeStatus(s: Snapshot, settlement: Settlement, aspects: Aspects, now: Date): ModelBindingStatus {
  const generationId = s.route?.spec.generationId;
  const record: ApplicationRecord | undefined =
    settlement.outcome === undefined
      ? undefined
      : { ...settlement.outcome, ...causeOf(settlement), time: now.toISOString() };
  const history = record === undefined ? s.history : addOutcome(s.history, record, generationId);
  return {
    conditions: makeConditions(s.conditions, aspects, s.binding.generation, now),
    observedGeneration: s.binding.generation,
    ...pinnedOf(s),
    ...startingOf(s, settlement.result),
    ...(history.length === 0 ? {} : { applications: [...history] }),
  };
}

/** The message of the conditions about an application that failed. */
function causeOf({ outcome, result }: Settlement): Pick<ApplicationRecord, 'cause'> {
  if (outcome?.outcome !== 'Failed') return {};
  const isOfOutcome = result.kind === 'confirming' || (result.kind === 'failed' && result.reason === outcome.reason);
  if (!isOfOutcome || result.message === undefined) return {};
  return { cause: result.message.slice(0, causeLimit) };
}

function makeConditions(
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

/** Without a route, the record of the last route is kept, because it will be restored or a replica still uses it. */
function pinnedOf({ route, pinned }: Snapshot): Pick<ModelBindingStatus, 'pinned'> {
  if (route === undefined) return pinned === undefined ? {} : { pinned: pinned.record };
  return { pinned: pinnedRecord(route.spec) };
}

/** The workload of an application that may still be applied, so that the workload is kept and users can inspect it. */
function startingOf(s: Snapshot, result: PassResult): Pick<ModelBindingStatus, 'workload'> {
  if (result.kind === 'blocked') return s.starting === undefined ? {} : { workload: s.starting };
  const workload = s.facts.desired.workload ?? s.facts.pinned.workload;
  if (workload === undefined || workload.name === s.route?.spec.workload) return {};
  if (result.kind === 'leaving' || (result.kind === 'failed' && isFinal(result))) return {};
  const isReady = workload.ready && workload.addresses.length > 0;
  return { workload: { name: workload.name, phase: isReady ? 'Ready' : 'Starting' } };
}
