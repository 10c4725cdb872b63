import { v7 as uuid } from 'uuid';
import { createSemaphore } from '#kit/concurrency/semaphore';
import { applyDesired } from '#kube/apply/apply';
import { type KubeClient, KubeError } from '#kube/client/client';
import { listAll } from '#kube/client/list-all';
import type { GatewayRoute } from '#resources/gateway-route';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { RuntimeWorkload } from '#resources/runtime-workload';
import { policyView } from '../../../acceptance/gather-views.ts';
import { previousAnnotation, writePrevious } from '../../../applications/previous-application.ts';
import { aliasKey } from '../../../caches/caches.ts';
import { keepWorkload } from '../../../workloads/prepare-workload.ts';
import type { WorkloadClaims } from '../../../workloads/workload-claims.ts';
import type { Mover } from '../alias/alias-circle.ts';
import { aliasHolderOf } from '../alias/gather-ownership.ts';
import { isReleased, leftAliasAnnotation } from '../alias/released-alias.ts';
import { makeOwner, makeRoute, type RouteDraft } from '../resources/route.ts';
import type { Pass } from '../snapshot/gather.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { RouteWrite } from '../snapshot/steps.ts';

type RoutePorts = {
  readonly client: KubeClient;
  readonly aliases: AliasLocks;
  readonly claims: WorkloadClaims;
};

/** Locks of aliases: only one binding at a time claims an alias that its route does not have yet. */
type AliasLocks = {
  /**
   * Waits until the caller may claim an alias.
   * @throws the reason of the signal when it is aborted first
   */
  acquire(alias: string, signal: AbortSignal): Promise<() => void>;
};

export function createAliasLocks(): AliasLocks {
  const turns = new Map<string, { readonly turn: ReturnType<typeof createSemaphore>; users: number }>();
  return {
    async acquire(alias, signal) {
      const held = turns.get(alias) ?? { turn: createSemaphore(1), users: 0 };
      turns.set(alias, held);
      held.users += 1;
      const leave = (): void => {
        held.users -= 1;
        if (held.users === 0) turns.delete(alias);
      };
      try {
        const release = await held.turn.acquire(signal);
        return () => {
          release();
          leave();
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
  };
}

/**
 * Writes a complete route in one write. Before it pins another application, it reads the inputs of the decision live,
 * so that a resumed process cannot act on stale state (docs/design/applications-and-routes.md). @throws KubeError with
 * a code that means that another writer was faster
 */
export async function writeRoute(
  ports: RoutePorts,
  pass: Pass,
  s: Snapshot,
  step: RouteWrite,
  signal: AbortSignal,
): Promise<Stored<GatewayRoute>> {
  using _claim = step.draft.workload === undefined ? undefined : ports.claims.claim(step.draft.workload);
  if (step.generation !== 'kept') {
    await confirmDecision(ports.client, pass, s, step);
    await keepPinned(ports.client, step.draft, s.binding.spec.replicas);
  }
  const held = pass.route?.spec;
  if (held?.alias === step.draft.alias && held.gateway === step.draft.gateway)
    return await write(ports.client, pass, step);
  const release = await ports.aliases.acquire(aliasKey(step.draft.gateway, step.draft.alias), signal);
  try {
    await confirmAlias(ports.client, step.draft);
    if (s.move?.kind === 'step_aside') await confirmCircle(ports.client, s.move.circle);
    return await write(ports.client, pass, step);
  } finally {
    release();
  }
}

function write(client: KubeClient, pass: Pass, step: RouteWrite): Promise<Stored<GatewayRoute>> {
  const { route } = pass;
  const generationId = generationOf(pass, step);
  const spec = { ...step.draft, generationId };
  const previous = writePrevious(step.previous);
  if (route === undefined) return client.create<GatewayRoute>(kinds.gatewayRoute, makeRoute(spec, previous));
  const { name, uid, id } = spec.binding;
  return applyDesired(client, kinds.gatewayRoute, route, {
    spec,
    labels: { [idLabel]: id },
    annotations: { [previousAnnotation]: previous ?? null, [leftAliasAnnotation]: leftAlias(route, spec.alias) },
    ownerReferences: makeOwner(name, uid),
  });
}

function generationOf({ route, binding }: Pass, { generation }: RouteWrite): string {
  switch (generation) {
    case 'new':
      return uuid();
    case 'kept':
      return route?.spec.generationId ?? uuid();
    case 'pinned':
      return binding.status?.pinned?.generationId ?? uuid();
  }
}

/** The alias that a released route can return to; null for other routes. */
function leftAlias({ metadata, spec }: Stored<GatewayRoute>, alias: string): string | null {
  if (!isReleased(alias)) return null;
  return isReleased(spec.alias)
    ? (metadata.annotations?.[leftAliasAnnotation] ?? null)
    : aliasKey(spec.gateway, spec.alias);
}

/** Confirms from live reads that binding and policy have not changed since the decision. */
async function confirmDecision(client: KubeClient, pass: Pass, s: Snapshot, step: RouteWrite): Promise<void> {
  const { metadata, spec } = pass.binding;
  const binding = await client.get<ModelBinding>(kinds.modelBinding, metadata.name);
  const isSame = binding?.metadata.uid === metadata.uid && binding.metadata.generation === metadata.generation;
  if (!isSame || binding.metadata.deletionTimestamp !== undefined) throw lost('the binding has changed');
  // The status of the cache may be older than the route.
  const isSamePin = binding.status?.pinned?.generationId === pass.binding.status?.pinned?.generationId;
  if (!isSamePin) throw lost('the pinned application has changed');
  if (step.why !== 'apply' || spec.guardrail.mode !== 'Policy' || s.policy.kind !== 'found') return;
  const policy = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, spec.guardrail.policyRef.name);
  const now = policy === undefined ? undefined : policyView(policy);
  const decided = s.policy;
  const stands =
    now?.kind === 'found' &&
    now.id === decided.id &&
    now.archived === decided.archived &&
    now.deleting === decided.deleting &&
    !now.idConflict;
  if (!stands) throw lost('the policy has changed');
}

/** The workload exists and is not marked for removal when the route is written. */
async function keepPinned(client: KubeClient, draft: RouteDraft, replicas: number): Promise<void> {
  if (draft.workload === undefined) return;
  const workload = await client.get<RuntimeWorkload>(kinds.runtimeWorkload, draft.workload);
  if (workload === undefined) throw lost('the workload no longer exists');
  await keepWorkload(client, workload, replicas);
}

/** No route of another binding holds the alias, from a live read. An alias has no character that selectors escape. */
async function confirmAlias(client: KubeClient, draft: RouteDraft): Promise<void> {
  const fieldSelector = `spec.alias=${draft.alias}`;
  const { items } = await listAll<GatewayRoute>(client, kinds.gatewayRoute, { fieldSelector });
  const taken = items
    .map(aliasHolderOf)
    .some(
      (holding) =>
        holding.gateway === draft.gateway && holding.alias === draft.alias && holding.bindingId !== draft.binding.id,
    );
  if (taken) throw lost('another binding has taken the alias');
}

/**
 * Confirms with live reads that every binding of the cycle still has its alias and requests the alias of the next
 * binding: a binding does not release its alias for bindings whose spec has changed.
 */
async function confirmCircle(client: KubeClient, circle: readonly Mover[]): Promise<void> {
  for (const { name, id, wants, holds } of circle) {
    const binding = await client.get<ModelBinding>(kinds.modelBinding, name);
    const route = await client.get<GatewayRoute>(kinds.gatewayRoute, name);
    const stands =
      binding !== undefined &&
      binding.metadata.deletionTimestamp === undefined &&
      binding.metadata.labels?.[idLabel] === id &&
      aliasKey(binding.spec.gateway, binding.spec.model.alias) === wants &&
      route?.spec.binding.id === id &&
      aliasKey(route.spec.gateway, route.spec.alias) === holds;
    if (!stands) throw lost('the bindings that exchange aliases have changed');
  }
}

function lost(message: string): KubeError {
  return new KubeError('conflict', message);
}
