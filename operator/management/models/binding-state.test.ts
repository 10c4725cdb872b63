import { describe, expect, test } from 'vitest';
import type { ApplicationRecord, FailureReason } from '#resources/model-binding';
import { type Application, contentDigest } from '../../applications/application.ts';
import type { ReplicaView } from '../../applications/replica-views.ts';
import { type BindingCause, bindingRead, bindingState } from './binding-state.ts';
import type { ModelSnapshot, PinnedRoute } from './model-snapshot.ts';

const profile = 'gateway-1.5.0-chat-webhook-v2';
const policyId = '01900000-0000-7000-8000-00000000000a';

function guarded(token: string, revision: number, id: string | undefined = policyId): Application {
  return {
    token,
    content: { mode: 'Policy', policyId: id, policyRevision: String(revision), contentProfile: profile },
  };
}
const none = (token: string): Application => ({ token, content: { mode: 'None', contentProfile: profile } });

function route(application: Application, change: Partial<PinnedRoute> = {}): PinnedRoute {
  const digest = application.content.mode === 'Policy' ? 'd'.repeat(64) : null;
  return { generationId: 'generation', digest, application, refused: undefined, ...change };
}

function replica(change: Partial<ReplicaView> = {}): ReplicaView {
  return {
    name: 'gateway-1',
    ready: true,
    readsFormat: true,
    reached: true,
    pending: false,
    rejected: undefined,
    ...change,
  };
}

function snapshot(change: Partial<ModelSnapshot> = {}): ModelSnapshot {
  return {
    modelId: '01900000-0000-7000-8000-00000000000b',
    gateway: 'default',
    generation: 3,
    operationId: null,
    isModelOff: false,
    isProviderOff: false,
    desired: guarded('now', 2),
    route: route(guarded('now', 2)),
    history: [],
    isInProgress: false,
    replicas: [replica()],
    lastObservedAt: undefined,
    ...change,
  };
}

const unexplained = { message: undefined, whatToDo: undefined };

const failed = (token: string, change: Partial<ApplicationRecord> = {}): ApplicationRecord => ({
  operationId: token,
  policyId,
  policyRevision: 2,
  contentProfile: profile,
  outcome: 'Failed',
  reason: 'bundle_invalid',
  time: '2026-01-01T00:00:00Z',
  ...change,
});

describe('the state of a binding', () => {
  test('the state of a binding equals the expected one for every combination of inputs', () => {
    const flags = [false, true];
    const desires = [guarded('now', 2), none('now')];
    const routes = [undefined, route(guarded('now', 2)), route(guarded('before', 1)), route(none('now'))];
    const histories = [[], [failed('now')], [failed('before')]];
    const fleets = [
      [],
      [replica({ ready: false })],
      [replica()],
      [replica({ pending: true })],
      [replica({ reached: false })],
      [replica({ rejected: 'no' })],
      [replica(), replica({ name: 'gateway-2', pending: true })],
      [replica(), replica({ name: 'gateway-2', ready: false, reached: false })],
    ];
    let count = 0;
    for (const isModelOff of flags) {
      for (const isProviderOff of flags) {
        for (const desired of desires) {
          for (const pinned of routes) {
            for (const history of histories) {
              for (const replicas of fleets) {
                const m = snapshot({ isModelOff, isProviderOff, desired, route: pinned, history, replicas });
                expect([m, bindingState(m).state]).toEqual([m, expectedState(m)]);
                count += 1;
              }
            }
          }
        }
      }
    }
    expect(count).toBe(768);
  });

  /** The rules of docs/manage-policies.md, in their order. */
  function expectedState(m: ModelSnapshot): string {
    if (m.isModelOff || m.isProviderOff) return 'disabled';
    const ready = m.replicas.filter((one) => one.ready);
    const isPinned = m.route !== undefined && JSON.stringify(m.route.application) === JSON.stringify(m.desired);
    const isTaken = ready.length > 0 && m.replicas.every((one) => !one.ready || (one.reached && !one.pending));
    const isRejected = m.replicas.some((one) => one.rejected !== undefined);
    if (isPinned && isTaken && !isRejected) return m.desired.content.mode === 'None' ? 'unbound' : 'applied';
    if (isPinned && isRejected) return 'failed';
    const isFailed = m.history[0]?.operationId === 'now' && m.desired.content.mode === 'Policy';
    return isFailed ? 'failed' : 'pending';
  }

  test('a binding is failed while its route records the rejection of the desired application', () => {
    const desired = guarded('now', 2);
    const refused = {
      token: 'now',
      contentDigest: contentDigest(desired.content),
      generationId: 'refused',
      reason: 'replica_rejected',
    };
    const m = snapshot({ desired, route: route(guarded('before', 1), { refused }) });
    expect(bindingState(m)).toEqual({ state: 'failed', reason: 'replica_rejected' });
    const other = snapshot({ desired: guarded('later', 2), route: route(guarded('before', 1), { refused }) });
    expect(bindingState(other).state).toBe('pending');
  });

  test('a binding becomes applied when every replica confirms after the progress deadline', () => {
    const history = [failed('now', { reason: 'progress_deadline_exceeded', generationId: 'generation' })];
    expect(bindingState(snapshot({ history, replicas: [replica({ reached: false })] }))).toEqual({
      state: 'failed',
      reason: 'progress_deadline_exceeded',
    });
    expect(bindingState(snapshot({ history })).state).toBe('applied');
  });

  test('a binding is pending again when a missing dependency appeared and the application is retried', () => {
    const stateOf = (reason: FailureReason, change: Partial<ModelSnapshot>) =>
      bindingState(snapshot({ history: [failed('now', { reason })], ...change })).state;
    const before = { route: route(guarded('before', 1)) };
    const late = { replicas: [replica({ reached: false })] };
    for (const reason of ['provider_unknown', 'policy_revision_unknown', 'progress_deadline_exceeded'] as const) {
      expect([reason, stateOf(reason, before)]).toEqual([reason, 'failed']);
      expect([reason, stateOf(reason, { ...before, isInProgress: true })]).toEqual([reason, 'pending']);
      expect([reason, stateOf(reason, late)]).toEqual([reason, 'pending']);
      expect([reason, stateOf(reason, {})]).toEqual([reason, 'applied']);
    }
    expect(stateOf('bundle_invalid', { ...before, isInProgress: true })).toBe('failed');
  });

  test('a binding shows the desired application with nulls until it is pinned, and the earlier application as serving', () => {
    const read = bindingRead(snapshot({ route: route(guarded('before', 1)) }), unexplained);
    expect(read).toMatchObject({
      state: 'pending',
      binding: { policyId, policyRevision: 2, generationId: null, bundleDigest: null },
      observation: { serving: { policyRevision: 1, generationId: 'generation' }, reason: 'in_progress' },
    });
  });

  test('a binding shows the id of a deleted policy from its pinned application', () => {
    const desired: Application = {
      token: 'now',
      content: { mode: 'Policy', policyId: undefined, policyRevision: '2', contentProfile: profile },
    };
    expect(bindingRead(snapshot({ desired }), unexplained)).toMatchObject({ state: 'applied', binding: { policyId } });
    expect(bindingRead(snapshot({ desired, route: undefined }), unexplained).binding?.policyId).toBeNull();
  });

  test('a failed binding shows the recorded cause in a sentence, and the remedy of its conditions', () => {
    const before = { route: route(guarded('before', 1)) };
    const explained = { message: 'The newest words.', whatToDo: 'Correct the rule.' };
    const shown = (change: Partial<ModelSnapshot>, cause: BindingCause = explained) => {
      const { state, observation } = bindingRead(snapshot({ ...before, ...change }), cause);
      return [state, observation.cause, observation.whatToDo];
    };
    const recorded = [failed('now', { cause: 'rule r1: it does not compile' })];
    expect(shown({ history: recorded })).toEqual(['failed', 'Rule r1: it does not compile.', 'Correct the rule.']);
    expect(shown({ history: recorded }, unexplained)).toEqual(['failed', 'Rule r1: it does not compile.', null]);
    expect(shown({ history: [failed('now')] })).toEqual(['failed', 'The newest words.', 'Correct the rule.']);
    expect(shown({ history: [failed('before', { cause: 'another' })] })).toEqual([
      'pending',
      'The newest words.',
      'Correct the rule.',
    ]);
    expect(shown({ route: route(guarded('now', 2)) })).toEqual(['applied', null, null]);
    expect(shown({ isModelOff: true })).toEqual(['disabled', null, null]);
  });
});
