import { currentProfile } from '#contracts/profiles';
import type { ApplicationRecord, ModelBindingSpec } from '#resources/model-binding';
import { contentDigest, desiredApplication } from '../../../applications/application.ts';
import type { PreviousApplication } from '../../../applications/previous-application.ts';
import { decide } from '../decide.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ReconcileStep, RouteWrite, Settlement } from '../snapshot/steps.ts';
import { generationId, guardOf, policyId, routeViewOf, specOf, workloadOf } from './snapshots.ts';

export const refToTwo: Partial<ModelBindingSpec> = {
  guardrail: { mode: 'Policy', policyRef: { name: 'guard', revision: 2 } },
  apply: 'second',
};
export const asksForTwo = { spec: specOf(refToTwo) };
export const asksForNone = { spec: specOf({ guardrail: { mode: 'None' }, apply: 'open' }) };

export function outcomeRecordOf(change: Partial<ApplicationRecord> = {}): ApplicationRecord {
  return {
    operationId: '',
    policyId,
    policyRevision: 1,
    contentProfile: currentProfile,
    generationId,
    outcome: 'Applied',
    time: '2026-01-01T00:00:00.000Z',
    ...change,
  };
}

export const trialId = '01990000-0000-7000-8000-00000000000b';
export const applied = [outcomeRecordOf()];
const { generationId: _none, ...withoutGeneration } = outcomeRecordOf({
  operationId: 'second',
  policyRevision: 2,
  outcome: 'Failed',
  reason: 'bundle_invalid',
});
/** The outcome of an application of revision 2 that failed before its route was written. */
export const failedSecond = withoutGeneration;
export const previous: PreviousApplication = {
  mode: 'Policy',
  token: '',
  contentProfile: currentProfile,
  workload: 'g-1',
  guardrail: guardOf(1),
};
/** Revision 2 is pinned and not confirmed yet; revision 1 is the previous application. */
export const onTrial = routeViewOf(
  { previous, previousWorkload: workloadOf('g-1'), workload: workloadOf('g-2') },
  { token: 'second', guardrail: guardOf(2), workload: 'g-2', generationId: trialId },
);
export const refusedSecond = {
  token: 'second',
  contentDigest: contentDigest(desiredApplication(specOf(refToTwo), policyId).content),
  generationId: trialId,
  reason: 'replica_rejected' as const,
  message: 'the gateway replica b rejects the route: x',
};

export function kindOf(step: ReconcileStep): string {
  return step.kind === 'settle' ? step.settlement.result.kind : step.kind;
}

export function settlementOf(s: Snapshot): Settlement {
  const step = decide(s);
  if (step.kind !== 'settle') throw new TypeError(`expected a settlement, got ${step.kind}`);
  return step.settlement;
}

export function writeOf(s: Snapshot): RouteWrite {
  const step = decide(s);
  if (step.kind !== 'write_route') throw new TypeError(`expected a route, got ${kindOf(step)}`);
  return step;
}
