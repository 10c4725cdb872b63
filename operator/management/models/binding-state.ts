import type { BindingRead, BindingState } from '#contracts/management';
import { sentence } from '#diagnosis/sentence';
import { stateOfFlags } from '#resources/binding-state';
import {
  type Application,
  contentDigest,
  isOutcomeOf,
  mayBeSame,
  sameContent,
} from '../../applications/application.ts';
import { isFinal } from '../../applications/outcome-history.ts';
import type { ModelSnapshot, PinnedRoute } from './model-snapshot.ts';

type StateAndReason = { readonly state: BindingState; readonly reason: string | null };

/** The first cause of the state of a binding and the remedy, from its conditions. */
export type BindingCause = { readonly message: string | undefined; readonly whatToDo: string | undefined };

/**
 * The state of a binding, computed at every read and never stored. The state is `applied` or `unbound` only if every
 * ready replica confirmed exactly the desired application (management:binding-state:to-applied).
 */
export function bindingState(m: ModelSnapshot): StateAndReason {
  const isPinned = pins(m.route, m.desired);
  const failure = failureOf(m, isPinned);
  const state = stateOfFlags({
    isDisabled: m.isModelOff || m.isProviderOff,
    isConfirmed: isPinned && isConfirmed(m),
    isUnguarded: m.desired.content.mode === 'None',
    isFailed: failure !== undefined,
  });
  return { state, reason: reasonOf(m, state, isPinned, failure) };
}

function reasonOf(
  m: ModelSnapshot,
  state: BindingState,
  isPinned: boolean,
  failure: string | undefined,
): string | null {
  switch (state) {
    case 'disabled':
      return m.isModelOff ? 'model_disabled' : 'provider_disabled';
    case 'applied':
    case 'unbound':
      return null;
    case 'failed':
      return failure ?? null;
    case 'pending':
      return isPinned ? waitingReason(m) : 'in_progress';
  }
}

/** The representation of the binding of a model (management:binding-get:selected-policy). */
export function bindingRead(m: ModelSnapshot, cause: BindingCause): BindingRead {
  const { state, reason } = bindingState(m);
  const ready = m.replicas.filter((replica) => replica.ready);
  return {
    modelId: m.modelId,
    gatewayName: m.gateway,
    modelRevision: m.generation,
    operationId: m.operationId,
    state,
    binding: desiredOf(m),
    observation: {
      serving: m.route === undefined ? null : servingOf(m.route),
      expected: ready.length,
      confirmed: m.route === undefined ? 0 : ready.filter(confirms).length,
      rejected: m.replicas.filter((replica) => replica.rejected !== undefined).length,
      reason,
      ...causeOf(m, state, cause),
      lastObservedAt: m.lastObservedAt?.toISOString() ?? null,
    },
  };
}

/** The recorded cause of a failure: conditions may have changed since. */
function causeOf(
  m: ModelSnapshot,
  state: BindingState,
  explained: BindingCause,
): Pick<BindingRead['observation'], 'cause' | 'whatToDo'> {
  if (state !== 'failed' && state !== 'pending') return { cause: null, whatToDo: null };
  const newest = m.history[0];
  const isRecorded = state === 'failed' && newest?.outcome === 'Failed' && answersDesired(newest, m.desired);
  const recorded = isRecorded && newest.cause !== undefined ? sentence(newest.cause) : undefined;
  return { cause: recorded ?? explained.message ?? null, whatToDo: explained.whatToDo ?? null };
}

function pins(route: PinnedRoute | undefined, desired: Application): boolean {
  return route !== undefined && mayBeSame(desired, route.application);
}

type Replica = ModelSnapshot['replicas'][number];

function confirms(replica: Replica): boolean {
  return replica.reached && !replica.pending && replica.rejected === undefined;
}

/** A binding is unconfirmed when no replica is ready or a replica rejects its route. */
function isConfirmed({ replicas }: ModelSnapshot): boolean {
  if (replicas.some((replica) => replica.rejected !== undefined)) return false;
  const ready = replicas.filter((replica) => replica.ready);
  return ready.length > 0 && ready.every(confirms);
}

/** The reason why the desired application failed; undefined if it is in progress. */
function failureOf(m: ModelSnapshot, isPinned: boolean): string | undefined {
  if (isPinned && m.replicas.some((replica) => replica.rejected !== undefined)) return 'replica_rejected';
  const newest = m.history[0];
  const isRetried = newest !== undefined && !isFinal(newest) && (isPinned || m.isInProgress);
  if (newest?.outcome === 'Failed' && answersDesired(newest, m.desired) && !isRetried) return newest.reason;
  const refused = m.route?.refused;
  if (isPinned || refused?.token !== m.desired.token) return undefined;
  return refused.contentDigest === contentDigest(m.desired.content) ? refused.reason : undefined;
}

/** The id of a deleted policy is unknown: an entry with the same token and revision is taken as its own. */
function answersDesired(record: ModelSnapshot['history'][number], { token, content }: Application): boolean {
  if (content.mode === 'None' || content.policyId !== undefined) return isOutcomeOf(record, { token, content });
  return isOutcomeOf(record, { token, content: { ...content, policyId: record.policyId } });
}

function waitingReason({ replicas }: ModelSnapshot): string {
  return replicas.some((replica) => replica.ready) ? 'waiting_for_replicas' : 'no_ready_replica';
}

/** The desired application; generation and digest are known once the route pins it. */
function desiredOf(m: ModelSnapshot): BindingRead['binding'] {
  const { content } = m.desired;
  if (content.mode === 'None') return null;
  const pinned = m.route !== undefined && pins(m.route, m.desired) ? m.route : undefined;
  const newest = m.history[0];
  const known = newest !== undefined && answersDesired(newest, m.desired) ? newest : undefined;
  return {
    policyId: content.policyId ?? policyIdOf(pinned, content) ?? known?.policyId ?? null,
    policyRevision: Number(content.policyRevision),
    generationId: pinned?.generationId ?? known?.generationId ?? null,
    bundleDigest: pinned?.digest ?? null,
  };
}

function policyIdOf(route: PinnedRoute | undefined, wanted: Application['content']): string | undefined {
  const content = route?.application.content;
  if (content?.mode !== 'Policy' || wanted.mode !== 'Policy') return undefined;
  return sameContent({ ...wanted, policyId: content.policyId }, content) ? content.policyId : undefined;
}

function servingOf({ application: { content }, generationId, digest }: PinnedRoute) {
  if (content.mode === 'None') return { policyId: null, policyRevision: null, generationId, bundleDigest: null };
  const { policyId = null, policyRevision } = content;
  return { policyId, policyRevision: Number(policyRevision), generationId, bundleDigest: digest };
}
