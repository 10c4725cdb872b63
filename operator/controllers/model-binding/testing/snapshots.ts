import { defaultBundleLimits } from '#contracts/bundle';
import { canonicalBytes } from '#contracts/canonical';
import { currentProfile } from '#contracts/profiles';
import type { GatewayRouteSpec, GuardedRoute } from '#resources/gateway-route';
import type { ModelBindingSpec } from '#resources/model-binding';
import type { PolicyRevisionSpec } from '#resources/policy-revision';
import { makeGuard } from '../../../acceptance/resources/guard.ts';
import type { TargetFacts, WorkloadView } from '../../../acceptance/snapshot.ts';
import type { ReplicaView } from '../../../applications/replica-views.ts';
import { buildBundle } from '../../../bundles/build-bundle.ts';
import { bindingObject, definitionOf } from '../../../testing/objects.ts';
import type { RouteView, Snapshot } from '../snapshot/snapshot.ts';

export const policyId = '01990000-0000-7000-8000-000000000001';
export const bindingId = '01990000-0000-7000-8000-000000000002';
export const generationId = '01990000-0000-7000-8000-00000000000a';

export function specOf(change: Partial<ModelBindingSpec> = {}): ModelBindingSpec {
  return { ...bindingObject('chat').spec, ...change };
}

export function revisionOf(number: number, change: Partial<PolicyRevisionSpec> = {}): PolicyRevisionSpec {
  return {
    policyId,
    number,
    policy: { name: 'guard', uid: 'uid-of-guard', generation: number },
    token: '',
    displayName: 'guard',
    description: '',
    lifecycle: 'Draft',
    definition: canonicalBytes(definitionOf(`portal-${number}`)).toString('utf8'),
    definitionDigest: 'd'.repeat(64),
    ruleCount: 2,
    ruleKinds: ['stop_list'],
    tests: [],
    ...change,
  };
}

export function workloadOf(name: string, change: Partial<WorkloadView> = {}): WorkloadView {
  const addresses = ['http://127.0.0.1:9001'];
  return { name, runnable: true, ready: true, addresses, problem: undefined, ...change };
}

export function guardOf(number: number): GuardedRoute {
  return makeGuard({
    revision: revisionOf(number),
    definition: definitionOf(`portal-${number}`),
    contentProfile: currentProfile,
    digest: 'a'.repeat(64),
    addresses: ['http://127.0.0.1:9001'],
    limits: defaultBundleLimits,
    streaming: { allowed: true },
    division: { allowed: true },
  });
}

function routeSpecOf(change: Partial<GatewayRouteSpec> = {}): GatewayRouteSpec {
  return {
    formatVersion: 1,
    gateway: 'default',
    binding: { name: 'chat', uid: 'uid-of-chat', id: bindingId },
    alias: 'chat',
    state: 'Enabled',
    upstream: { provider: 'echo', endpoint: 'http://127.0.0.1:9/v1', model: 'echo' },
    extraRequestKeys: [],
    token: '',
    contentProfile: currentProfile,
    guardrail: guardOf(1),
    workload: 'g-1',
    generationId,
    ...change,
  };
}

export function routeViewOf(change: Partial<RouteView> = {}, spec: Partial<GatewayRouteSpec> = {}): RouteView {
  return {
    uid: 'uid-of-route',
    spec: routeSpecOf(spec),
    previous: undefined,
    workload: workloadOf('g-1'),
    previousWorkload: undefined,
    ...change,
  };
}

export function replicaOf(name: string, change: Partial<ReplicaView> = {}): ReplicaView {
  return { name, ready: true, readsFormat: true, reached: true, pending: false, rejected: undefined, ...change };
}

/** The facts about a revision whose workload is ready. */
export function factsOf(number: number, change: Partial<TargetFacts> = {}): TargetFacts {
  const revision = revisionOf(number);
  return {
    revision,
    bundle: buildBundle({ revision, contentProfile: currentProfile, limits: defaultBundleLimits, approved: [] }),
    judgement: { kind: 'accepted', streaming: { allowed: true }, division: { allowed: true }, warnings: [] },
    workload: workloadOf(`g-${number}`),
    ...change,
  };
}

const upstream = {
  kind: 'approved',
  provider: 'echo',
  endpoint: 'http://127.0.0.1:9/v1',
  credential: undefined,
  enabled: true,
} as const;

/** An adopted binding that requests revision 1, before any step, with the given changes. */
export function snapshotOf(change: Partial<Snapshot> = {}, binding: Partial<Snapshot['binding']> = {}): Snapshot {
  return {
    binding: {
      name: 'chat',
      uid: 'uid-of-chat',
      generation: 1,
      id: bindingId,
      hasFinalizer: true,
      deleting: false,
      spec: specOf(),
      ...binding,
    },
    conditions: [],
    history: [],
    pinned: undefined,
    starting: undefined,
    owner: { kind: 'owner' },
    move: undefined,
    policy: { kind: 'found', id: policyId, archived: false, deleting: false, idConflict: false },
    upstream,
    routeUpstream: upstream,
    limits: defaultBundleLimits,
    build: 'b1',
    route: undefined,
    provider: { kind: 'unknown' },
    replicas: [],
    leftBehind: [],
    overdue: false,
    departureOverdue: false,
    facts: { desired: {}, pinned: {} },
    ...change,
  };
}
