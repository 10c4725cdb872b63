import type { KubeClient } from '#kube/client/client';
import type { GatewayRoute } from '#resources/gateway-route';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import type { BuiltBundle } from '../../bundles/build-bundle.ts';
import type { ServedPolicy } from '../../environment/served-policies.ts';
import type { ServedPin, ServedPolicies } from '../../served/ports.ts';
import { workloadName } from '../../workloads/workload-name.ts';
import {
  answers,
  type Content,
  contentDigest,
  desiredApplication,
  mayBeSame,
  pinnedApplication,
} from '../model-binding/application.ts';
import { buildContent } from '../model-binding/build-content.ts';
import { type BindingWorld, policyOf, policyView } from '../model-binding/gather.ts';
import { readPrevious } from '../model-binding/previous.ts';
import { isApplied, isFinal } from '../model-binding/ring.ts';
import { servedApplication } from '../served-policy/decide.ts';
import type { Need } from './snapshot.ts';

/** Names of workloads by content that are remembered; the content is immutable and so is the name. */
const remembered = 4_096;

export type ServedNeed = { readonly workloads: readonly string[]; readonly replicas: number };

/** By name of workload: who needs it and with how many processes. */
export type Needs = ReadonlyMap<string, Need>;

export type NeedsFinder = {
  /** The workloads that a binding and the route of its name need; either may be gone. */
  ofBinding(
    binding: Stored<ModelBinding> | undefined,
    route: Stored<GatewayRoute> | undefined,
  ): Promise<readonly string[]>;
  /** By asker what the addresses need and what the listed entries ask for. */
  ofServed(pins: ReadonlyMap<string, ServedPin>): Promise<ReadonlyMap<string, ServedNeed>>;
  /** What these routes, bindings and addresses need together, and what the listed entries ask for. */
  find(
    routes: readonly Stored<GatewayRoute>[],
    bindings: readonly Stored<ModelBinding>[],
    pins: ReadonlyMap<string, ServedPin>,
  ): Promise<Needs>;
};

/**
 * A workload is needed by every route that names it, by the route whose application is on trial for the one to go back
 * to, by every binding whose desired application may still go on, and by every policy that is served directly, with
 * what its address led to before (DESIGN section 6.3).
 */
export function createNeedsFinder(
  client: Pick<KubeClient, 'get'>,
  world: BindingWorld,
  served: Pick<ServedPolicies, 'entries'> & { hasFailed(entry: ServedPolicy): boolean },
): NeedsFinder {
  const names = new Map<string, string>();

  async function nameOf(content: Content): Promise<string | undefined> {
    const key = contentDigest(content);
    const known = names.get(key);
    if (known !== undefined) return known;
    const bundle = await buildContent(client, world, content);
    return bundle === undefined ? undefined : remember(key, nameOfBundle(bundle, world));
  }

  function remember(key: string, name: string): string {
    names.set(key, name);
    const [oldest] = names.keys();
    if (names.size > remembered && oldest !== undefined) names.delete(oldest);
    return name;
  }

  async function ofBinding(
    binding: Stored<ModelBinding> | undefined,
    route: Stored<GatewayRoute> | undefined,
  ): Promise<readonly string[]> {
    const found: (string | undefined)[] = route === undefined ? [] : await routeNeeds(route, binding);
    // A route whose binding is gone still serves until it is deleted.
    if (binding === undefined) return found.filter((name) => name !== undefined);
    const desired = desiredApplication(binding.spec, policyIdOf(binding));
    const ended = binding.status?.applications?.[0];
    const hasFailed = ended?.outcome === 'Failed' && isFinal(ended) && answers(ended, desired);
    const isPinned = route !== undefined && mayBeSame(desired, pinnedApplication(route.spec));
    const isLeaving = binding.metadata.deletionTimestamp !== undefined;
    if (!hasFailed && !isPinned && !isLeaving) found.push(await nameOf(desired.content));
    return found.filter((name) => name !== undefined);
  }

  async function routeNeeds(
    route: Stored<GatewayRoute>,
    binding: Stored<ModelBinding> | undefined,
  ): Promise<(string | undefined)[]> {
    const { workload, generationId } = route.spec;
    if (workload === undefined) return previousOf(route, binding, generationId);
    const pinned = world.stores.generations.get(workload);
    const isLost = pinned === undefined || !world.canRun(pinned.spec);
    const again = isLost ? await nameOf(pinnedApplication(route.spec).content) : undefined;
    return [workload, again, ...previousOf(route, binding, generationId)];
  }

  function previousOf(
    route: Stored<GatewayRoute>,
    binding: Stored<ModelBinding> | undefined,
    generationId: string,
  ): (string | undefined)[] {
    const previous = readPrevious(route);
    if (previous?.mode !== 'Policy' || isApplied(binding?.status?.applications ?? [], generationId)) return [];
    return [previous.workload];
  }

  function policyIdOf(binding: Stored<ModelBinding>): string | undefined {
    const { guardrail } = binding.spec;
    const policy = guardrail.mode === 'Policy' ? world.stores.policies.get(guardrail.policyRef.name) : undefined;
    const view = policy === undefined ? undefined : policyView(policy);
    return view?.kind === 'found' ? view.id : undefined;
  }

  /** What an entry asks for and its address does not lead to yet. */
  async function desiredOf(entry: ServedPolicy, pin: ServedPin | undefined): Promise<string | undefined> {
    const policy = policyOf(world.stores, entry.policyRef.name);
    const { token, content } = servedApplication(entry, { policy });
    if (content.mode !== 'Policy' || served.hasFailed(entry)) return undefined;
    const isPinned =
      pin?.token === token &&
      pin.policyId === content.policyId &&
      pin.policyRevision === content.policyRevision &&
      pin.contentProfile === content.contentProfile &&
      world.stores.generations.get(pin.workload) !== undefined;
    return isPinned ? undefined : nameOf(content);
  }

  async function ofServed(pins: ReadonlyMap<string, ServedPin>): Promise<ReadonlyMap<string, ServedNeed>> {
    const needs = new Map<string, ServedNeed>();
    for (const name of new Set([...pins.keys(), ...served.entries.map((entry) => entry.name)])) {
      const entry = served.entries.find((one) => one.name === name);
      const pin = pins.get(name);
      const desired = entry === undefined ? undefined : await desiredOf(entry, pin);
      const workloads = [pin?.workload, ...(pin?.previous ?? []), desired].filter((one) => one !== undefined);
      needs.set(`served policy ${name}`, { workloads, replicas: entry?.replicas ?? 1 });
    }
    return needs;
  }

  return {
    ofBinding,
    ofServed,
    async find(routes, bindings, pins) {
      const byName = new Map(routes.map((route) => [route.metadata.name, route]));
      const needs = new Map<string, { readonly askers: string[]; replicas: number }>();
      const add = (name: string, asker: string, replicas: number): void => {
        const held = needs.get(name) ?? { askers: [], replicas: 1 };
        held.askers.push(asker);
        held.replicas = Math.max(held.replicas, replicas);
        needs.set(name, held);
      };
      for (const binding of bindings) {
        const { name } = binding.metadata;
        for (const needed of await ofBinding(binding, byName.get(name))) add(needed, name, binding.spec.replicas);
        byName.delete(name);
      }
      for (const [name, route] of byName) {
        for (const needed of await ofBinding(undefined, route)) add(needed, name, 1);
      }
      for (const [asker, { workloads, replicas }] of await ofServed(pins)) {
        for (const workload of workloads) add(workload, asker, replicas);
      }
      return needs;
    },
  };
}

function nameOfBundle({ digest, bundle }: BuiltBundle, { build, template }: BindingWorld): string {
  return workloadName({ digest, build, template }, bundle.providers);
}
