import { builtinKinds } from '#kube/client/builtin-kinds';
import type { Lease } from '#kube/client/builtin-types';
import type { GatewayRoute, GatewayRouteSpec } from '#resources/gateway-route';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { PolicyRevision } from '#resources/policy-revision';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { isApplied } from '../../operator/applications/outcome-history.ts';
import { readPrevious } from '../../operator/applications/previous-application.ts';
import type { GatewayProcess, TrafficObserver } from './gateway-process.ts';
import type { MemoryApi, RecordedChange, Request } from './memory-api.ts';
import { maxStreamMs } from './operator-process.ts';

export type Watchman = {
  /** Violations in the order in which they occurred, one sentence each. */
  readonly broken: readonly string[];
  readonly traffic: TrafficObserver;
  /** Checks a write before it is executed. */
  asked(writer: string, request: Request): void;
  /** Checks a change after it was made. */
  changed(change: RecordedChange): void;
  surprised(controller: string): void;
  readonly requests: () => number;
};

type World = {
  readonly api: MemoryApi;
  readonly now: () => number;
  readonly gateways: () => readonly GatewayProcess[];
  readonly isOperator: (writer: string) => boolean;
};

/** A replica that has been ready for this long has received every route, even on a faulty network. */
const knownAfterMs = 90_000;

/**
 * Checks every write and every request against the promises of docs/design/applications-and-routes.md at the moment at
 * which it happens.
 */
export function createWatchman(world: World): Watchman {
  const { api } = world;
  const broken: string[] = [];
  /** Every content that the spec of a binding has requested, by UID of the binding. */
  const asked = new Map<string, Set<string>>();
  const generations = new Map<string, string>();
  const taken = new Map<string, Set<string>>();
  const readyOnce = new Set<string>();
  const leaders: string[] = [];
  const lastLeader = new Map<string, number>();
  let requests = 0;

  function expect(holds: boolean, sentence: string): void {
    if (!holds) broken.push(`${(world.now() / 1_000).toFixed(3)} s: ${sentence}`);
  }

  const routes = (): Stored<GatewayRoute>[] => api.list(kinds.gatewayRoute).items as Stored<GatewayRoute>[];
  const workloadNamed = (name: string): Stored<RuntimeWorkload> | undefined =>
    api.get(kinds.runtimeWorkload, name) as Stored<RuntimeWorkload> | undefined;
  const bindingOf = (name: string): Stored<ModelBinding> | undefined =>
    api.get(kinds.modelBinding, name) as Stored<ModelBinding> | undefined;

  /** Checks that after a new leader has written an object, earlier leaders no longer write it. */
  function lookAtWriter({ kind, writer, before, after }: RecordedChange): void {
    const subject = after ?? before;
    if (!world.isOperator(writer) || kind.kind === builtinKinds.lease.kind || subject === undefined) return;
    const epoch = leaders.lastIndexOf(writer);
    expect(epoch >= 0, `${writer} wrote a ${kind.kind} and was never the leader`);
    const key = `${kind.kind}/${subject.metadata.uid}`;
    const newest = lastLeader.get(key) ?? -1;
    expect(epoch >= newest, `${writer} wrote ${key} after the later leader ${leaders[newest]} had written it`);
    lastLeader.set(key, Math.max(epoch, newest));
  }

  function lookAtLease({ after }: RecordedChange): void {
    const holder = (after as Lease | undefined)?.spec.holderIdentity?.split('_')[0];
    if (holder !== undefined && holder !== '' && leaders.at(-1) !== holder) leaders.push(holder);
  }

  function lookAtBinding({ before, after }: RecordedChange): void {
    const binding = after as Stored<ModelBinding> | undefined;
    const held = before as Stored<ModelBinding> | undefined;
    if (binding !== undefined) {
      const known = asked.get(binding.metadata.uid) ?? new Set();
      asked.set(binding.metadata.uid, known.add(askedFor(binding)));
      lookAtOutcomes(held, binding);
      return;
    }
    const uid = held?.metadata.uid ?? '';
    expect(!routes().some(({ spec }) => spec.binding.uid === uid), `a binding was deleted while its route exists`);
    const since = Date.parse(held?.metadata.deletionTimestamp ?? '');
    if (Number.isNaN(since)) return;
    for (const gateway of world.gateways()) {
      if (gateway.life.state() !== 'running') continue;
      const serves = [...gateway.serving().values()].some(({ binding: owner }) => owner.uid === uid);
      const isOverdue = world.now() - deletedAt(uid) >= maxStreamMs;
      expect(!serves || isOverdue, `a binding was deleted while ${gateway.name} still serves it`);
    }
  }

  const deletions = new Map<string, number>();
  const deletedAt = (uid: string): number => deletions.get(uid) ?? Number.NEGATIVE_INFINITY;

  function lookAtOutcomes(before: Stored<ModelBinding> | undefined, after: Stored<ModelBinding>): void {
    const { name, uid, deletionTimestamp } = after.metadata;
    if (deletionTimestamp !== undefined && !deletions.has(uid)) deletions.set(uid, world.now());
    const ring = after.status?.applications ?? [];
    const old = before?.status?.applications ?? [];
    if (ring.length === old.length && ring[0]?.time === old[0]?.time && ring[0]?.outcome === old[0]?.outcome) return;
    expect(ring.length <= 5, `${name} has ${ring.length} outcomes`);
    const [newest] = ring;
    if (newest === undefined || sameRecord(newest, old[0])) return;
    if (newest.outcome !== 'Applied') return;
    const generationId = newest.generationId ?? '';
    const pinned = generations.get(generationId);
    expect(pinned !== undefined, `${name}: applied an application that no route pinned`);
    const content = [newest.operationId, newest.policyId, newest.policyRevision, newest.contentProfile];
    expect(
      pinned?.startsWith(JSON.stringify([uid, ...content])) ?? false,
      `${name}: the outcome ${JSON.stringify(content)} names a generationId that pinned ${pinned}`,
    );
    const takers = taken.get(generationId) ?? new Set();
    expect(takers.size > 0, `${name}: applied ${generationId}, which no replica confirmed`);
    for (const gateway of world.gateways()) {
      if (gateway.life.state() !== 'running' || world.now() - gateway.startedAt < knownAfterMs) continue;
      expect(takers.has(gateway.bootId), `${name}: applied ${generationId}, which ${gateway.name} never confirmed`);
    }
  }

  function lookAtRoute({ writer, before, after }: RecordedChange): void {
    const route = after as Stored<GatewayRoute> | undefined;
    if (route === undefined) return;
    const { spec } = route;
    const { name } = route.metadata;
    expect(world.isOperator(writer), `${writer} wrote the route ${name}`);
    const aliases = routes().map((one) => `${one.spec.gateway}/${one.spec.alias}`);
    expect(new Set(aliases).size === aliases.length, `two routes have the same alias: ${aliases.join(', ')}`);
    const known = generations.get(spec.generationId);
    const pins = pinsOf(spec);
    expect(
      known === undefined || known === pins,
      `${name}: generation ${spec.generationId} pinned ${known} and now pins ${pins}`,
    );
    generations.set(spec.generationId, pins);
    const wanted = asked.get(spec.binding.uid) ?? new Set();
    expect(wanted.has(applicationOf(spec)), `${name} pins ${applicationOf(spec)}, which no binding requested`);
    const isNew = (before as GatewayRoute | undefined)?.spec.generationId !== spec.generationId;
    if (isNew && spec.guardrail.mode === 'Policy') lookAtPin(name, spec, spec.guardrail);
  }

  function lookAtPin(
    name: string,
    spec: GatewayRouteSpec,
    guardrail: Extract<GatewayRouteSpec['guardrail'], { mode: 'Policy' }>,
  ): void {
    const workload = workloadNamed(spec.workload ?? '');
    expect(workload !== undefined, `${name} refers to a workload that does not exist`);
    if (workload === undefined) return;
    expect(workload.spec.digest === guardrail.digest, `${name} refers to a workload with another bundle`);
    expect(workload.spec.state === 'Active', `${name} refers to a workload that is marked for deletion`);
    expect(readyOnce.has(workload.metadata.uid), `${name} refers to a workload that was never ready`);
    const revision = api.get(kinds.policyRevision, `${guardrail.policyId}-${guardrail.policyRevision}`);
    expect(revision !== undefined, `${name} pins a revision that does not exist`);
  }

  /** Content that the route pins, with the display name of the policy. */
  function applicationOf({ token, contentProfile, guardrail }: GatewayRouteSpec): string {
    if (guardrail.mode === 'None') return JSON.stringify([token, 'None', contentProfile]);
    const name = `${guardrail.policyId}-${guardrail.policyRevision}`;
    const revision = api.get(kinds.policyRevision, name) as PolicyRevision | undefined;
    return JSON.stringify([token, revision?.spec.policy.name, Number(guardrail.policyRevision), contentProfile]);
  }

  function lookAtWorkload({ before, after }: RecordedChange): void {
    const workload = after as Stored<RuntimeWorkload> | undefined;
    if (workload?.status?.state === 'Ready') readyOnce.add(workload.metadata.uid);
    const gone = before as Stored<RuntimeWorkload> | undefined;
    if (workload !== undefined || gone === undefined) return;
    const { name } = gone.metadata;
    expect(gone.spec.state === 'Draining', `the workload ${name} was deleted without a deletion mark`);
    for (const route of routes()) {
      expect(
        route.spec.workload !== name,
        `the workload ${name} was deleted while the route ${route.metadata.name} uses it`,
      );
      const previous = readPrevious(route);
      const ring = bindingOf(route.metadata.name)?.status?.applications ?? [];
      const isBack = previous?.mode === 'Policy' && previous.workload === name;
      expect(
        !isBack || isApplied(ring, route.spec.generationId),
        `the workload ${name} was deleted, although the route ${route.metadata.name} may roll back to it`,
      );
    }
  }

  function lookAtRevision({ before, after }: RecordedChange): void {
    const revision = after as Stored<PolicyRevision> | undefined;
    expect(before === undefined && revision !== undefined, 'a revision was changed or deleted');
    if (before !== undefined || revision === undefined) return;
    const { policyId, number, policy } = revision.spec;
    const others = (api.list(kinds.policyRevision).items as Stored<PolicyRevision>[]).filter(
      (one) => one.spec.policyId === policyId && one.metadata.uid !== revision.metadata.uid,
    );
    expect(number === others.length + 1, `revision ${number} was recorded after ${others.length} revisions`);
    const isTwice = others.some(
      ({ spec }) => spec.policy.uid === policy.uid && spec.policy.generation >= policy.generation,
    );
    expect(!isTwice, `revision ${number} records a generation that is not newer than the recorded ones`);
  }

  function lookAtPolicy({ before, after }: RecordedChange): void {
    const id = before?.metadata.labels?.['portcullis.dev/id'];
    if (after !== undefined || id === undefined) return;
    const serves = routes().some(({ spec }) => spec.guardrail.mode === 'Policy' && spec.guardrail.policyId === id);
    expect(!serves, `a policy was deleted while a route serves it`);
  }

  const looks: Readonly<Record<string, (change: RecordedChange) => void>> = {
    [builtinKinds.lease.kind]: lookAtLease,
    [kinds.modelBinding.kind]: lookAtBinding,
    [kinds.gatewayRoute.kind]: lookAtRoute,
    [kinds.runtimeWorkload.kind]: lookAtWorkload,
    [kinds.policyRevision.kind]: lookAtRevision,
    [kinds.guardrailPolicy.kind]: lookAtPolicy,
  };

  return {
    broken,
    requests: () => requests,
    asked(writer, request) {
      if (!world.isOperator(writer) || request.verb === 'create') return;
      const sentence = `${writer} requested a ${request.verb} of ${request.kind.kind}/${request.name}`;
      if (request.verb === 'delete') return expect(request.options.uid !== undefined, `${sentence} without a UID`);
      const tests = request.operations.filter(({ op }) => op === 'test').map(({ path }) => path);
      const isSafe = tests.includes('/metadata/uid') && tests.some((path) => /resourceVersion|generation/.test(path));
      expect(isSafe, `${sentence} without a precondition`);
    },
    changed(change) {
      lookAtWriter(change);
      looks[change.kind.kind]?.(change);
    },
    surprised: (controller) => expect(false, `the controller ${controller} had an unexpected error`),
    traffic: {
      admitted(replica, spec) {
        requests += 1;
        const wanted = asked.get(spec.binding.uid) ?? new Set();
        expect(wanted.has(applicationOf(spec)), `${replica} serves ${applicationOf(spec)}, which no binding requested`);
      },
      judged(replica, { guardrail, workload = '', alias }) {
        if (guardrail.mode === 'None') return;
        const isThere = workloadNamed(workload) !== undefined;
        expect(isThere, `the workload ${workload} was removed during a request for ${alias} in ${replica}`);
      },
      took(replica, generationId) {
        const gateway = world.gateways().find(({ name }) => name === replica);
        if (gateway === undefined) return;
        taken.set(generationId, (taken.get(generationId) ?? new Set()).add(gateway.bootId));
      },
    },
  };
}

function askedFor({ spec }: ModelBinding): string {
  const { guardrail, contentProfile, apply = '' } = spec;
  if (guardrail.mode === 'None') return JSON.stringify([apply, 'None', contentProfile]);
  return JSON.stringify([apply, guardrail.policyRef.name, guardrail.policyRef.revision, contentProfile]);
}

/** The content that a generationId pins, which never changes; its first part is repeated in the outcome. */
function pinsOf({ binding, token, contentProfile, guardrail, workload }: GatewayRouteSpec): string {
  const policy =
    guardrail.mode === 'None' ? [undefined, undefined] : [guardrail.policyId, Number(guardrail.policyRevision)];
  const digest = guardrail.mode === 'None' ? undefined : guardrail.digest;
  return JSON.stringify([binding.uid, token, ...policy, contentProfile]) + JSON.stringify([digest, workload]);
}

function sameRecord(a: object, b: object | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
