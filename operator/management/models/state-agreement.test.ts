import { expect, test } from 'vitest';
import { conditionState, isInProgress } from '#resources/binding-state';
import type { Stored } from '#resources/metadata';
import type { ApplicationRecord, ModelBinding, ModelBindingSpec } from '#resources/model-binding';
import { pinnedApplication, sameApplication } from '../../applications/application.ts';
import { isApplied } from '../../applications/outcome-history.ts';
import { decide } from '../../controllers/model-binding/decide.ts';
import { pinnedRecord } from '../../controllers/model-binding/route/pinned-route.ts';
import { desiredOf, type Snapshot } from '../../controllers/model-binding/snapshot/snapshot.ts';
import { aspectsOf } from '../../controllers/model-binding/status/conditions.ts';
import { makeStatus } from '../../controllers/model-binding/status/status.ts';
import {
  generationId,
  guardOf,
  policyId,
  replicaOf,
  routeViewOf,
  snapshotOf,
  specOf,
  workloadOf,
} from '../../controllers/model-binding/testing/snapshots.ts';
import { bindingObject } from '../../testing/objects.ts';
import { bindingState } from './binding-state.ts';

const replicas = [
  replicaOf('confirms'),
  replicaOf('not-ready', { ready: false }),
  replicaOf('pending', { pending: true }),
  replicaOf('behind', { reached: false }),
  replicaOf('rejects', { rejected: 'digest_mismatch' }),
];
/** No value, each value alone, and each pair of values. */
const replicaSets = [
  [],
  ...replicas.map((one) => [one]),
  ...replicas.flatMap((one, at) => replicas.slice(at + 1).map((other) => [one, other])),
];

const record = (spec: ModelBindingSpec, change: Partial<ApplicationRecord>): ApplicationRecord => ({
  operationId: spec.apply ?? '',
  contentProfile: spec.contentProfile,
  outcome: 'Failed',
  time: '2026-01-01T00:00:00Z',
  ...(spec.guardrail.mode === 'None' ? {} : { policyId, policyRevision: spec.guardrail.policyRef.revision }),
  ...change,
});

function* histories(spec: ModelBindingSpec): Generator<readonly ApplicationRecord[]> {
  yield [];
  yield [record(spec, { outcome: 'Applied', generationId })];
  yield [record(spec, { reason: 'bundle_invalid' })];
  yield [record(spec, { reason: 'replica_rejected', generationId })];
  yield [record(spec, { reason: 'progress_deadline_exceeded', generationId })];
}

/** Snapshots of a binding whose provider, model, route, workload, history and replicas vary. */
function* snapshots(): Generator<Snapshot> {
  for (const mode of ['Policy', 'None'] as const) {
    for (const off of ['nothing', 'model', 'provider'] as const) {
      const base = specOf(mode === 'None' ? { guardrail: { mode: 'None' } } : {});
      const spec = off === 'model' ? { ...base, model: { ...base.model, state: 'Disabled' as const } } : base;
      const state = off === 'nothing' ? 'Enabled' : 'Disabled';
      const frame = { state } as const;
      const own = routeViewOf({}, { ...frame, guardrail: guardOf(1) });
      const { workload: _workload, ...unguarded } = { ...own.spec, guardrail: { mode: 'None' } as const };
      const routes = [
        undefined,
        mode === 'None' ? { ...own, spec: unguarded, workload: undefined } : own,
        ...(mode === 'None' ? [] : [{ ...own, workload: workloadOf('g-1', { runnable: false }) }]),
        routeViewOf({}, { ...frame, token: 'earlier', guardrail: guardOf(2) }),
      ];
      for (const route of routes) {
        for (const history of histories(spec)) {
          for (const reports of replicaSets) {
            for (const overdue of [false, true]) {
              const s = snapshotOf({}, { spec });
              const upstream = off === 'provider' ? { ...s.upstream, enabled: false } : s.upstream;
              yield {
                ...s,
                upstream,
                routeUpstream: upstream,
                route,
                history,
                replicas: reports,
                overdue,
                ...(route === undefined
                  ? {}
                  : { pinned: { record: pinnedRecord(route.spec), workload: route.workload } }),
                facts: { desired: { revision: 'absent' }, pinned: { revision: 'absent' } },
              };
            }
          }
        }
      }
    }
  }
}

test('the state from conditions agrees with the state from live reports after every settled pass', () => {
  const compared = new Map<string, number>();
  for (const s of snapshots()) {
    const step = decide(s);
    if (step.kind !== 'settle') continue;
    if (isImpossible(s)) continue;
    const { settlement } = step;
    const object = bindingObject('chat', s.binding.spec);
    const server = { uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '2026-01-01T00:00:00Z' };
    const status = makeStatus(s, settlement, aspectsOf(s, settlement), new Date(0));
    const binding: Stored<ModelBinding> = { ...object, metadata: { ...object.metadata, ...server }, status };
    const told = conditionState(binding);
    const live = bindingState({
      modelId: 'm',
      gateway: 'default',
      generation: 1,
      operationId: null,
      isModelOff: s.binding.spec.model.state === 'Disabled',
      isProviderOff: s.upstream.kind === 'approved' && !s.upstream.enabled,
      desired: desiredOf(s),
      route:
        s.route === undefined
          ? undefined
          : {
              generationId: s.route.spec.generationId,
              digest: null,
              application: pinnedApplication(s.route.spec),
              refused: s.route.spec.refused,
            },
      history: status.applications ?? [],
      isInProgress: isInProgress(binding),
      replicas: s.replicas,
      lastObservedAt: undefined,
    }).state;
    const pair = told === live ? told : `${told} instead of ${live}`;
    const why = told === live ? '' : differenceOf(s, told, live, settlement.degraded !== undefined);
    compared.set(`${pair}${why}`, (compared.get(`${pair}${why}`) ?? 0) + 1);
  }
  expect([...compared.keys()].filter((key) => key.endsWith(': unexpected'))).toEqual([]);
  expect([...compared.keys()]).toEqual(expect.arrayContaining(['applied', 'unbound', 'disabled', 'pending', 'failed']));
});

/** A replica cannot reject an absent route, and content that makes no bundle is never pinned. */
function isImpossible(s: Snapshot): boolean {
  if (s.route === undefined) return s.replicas.some((replica) => replica.rejected !== undefined);
  const isPinned = sameApplication(desiredOf(s), pinnedApplication(s.route.spec));
  return isPinned && s.history[0]?.reason === 'bundle_invalid';
}

function differenceOf(s: Snapshot, told: string, live: string, isDegraded: boolean): string {
  const isLatched = s.route !== undefined && isApplied(s.history, s.route.spec.generationId);
  // In the conditions, a confirmed application stays applied while a replica lags behind; the live state is pending.
  if (['applied', 'unbound'].includes(told) && live === 'pending' && isLatched) return ': latched';
  // The status shows a disabled provider only through an applied route.
  if (live === 'disabled' && ['pending', 'failed'].includes(told)) return ': provider disabled';
  // The workload must be started again: the operator has seen that, but gateway reports do not show it yet.
  if (['pending', 'failed'].includes(told) && isDegraded) return ': degraded';
  return ': unexpected';
}
