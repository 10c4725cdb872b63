import { z } from 'zod';
import { idPattern } from '#resources/admission-rules';
import type { GatewayRoute } from '#resources/gateway-route';
import { idLabel, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { aliasKey, type Stores } from '../../../caches/caches.ts';
import { type AliasMove, type AliasWorld, circleToBreak, type Mover } from './alias-circle.ts';
import {
  type AliasHolder,
  type Claimant,
  decideOwner,
  firstOfClaimants,
  type Ownership,
  ownerOfId,
} from './decide-owner.ts';
import { isReleased, leftAliasAnnotation } from './released-alias.ts';

type OwnershipStores = Pick<Stores, 'bindings' | 'routes'>;

export function bindingIdOf({ metadata }: Stored<ModelBinding>): string | undefined {
  return metadata.labels?.[idLabel];
}

export function aliasHolderOf({ spec }: Pick<GatewayRoute, 'spec'>): AliasHolder {
  return { bindingName: spec.binding.name, bindingId: spec.binding.id, gateway: spec.gateway, alias: spec.alias };
}

export function ownerOf(stores: OwnershipStores, binding: Stored<ModelBinding>): Ownership {
  const self = claimantOf(stores, binding);
  const alias = wantedBy(binding);
  const others = new Map(
    [...stores.bindings.by('alias', alias), ...namesakesOf(stores, binding)].map((other) => [
      other.metadata.name,
      other,
    ]),
  );
  others.delete(self.name);
  const own = [...others.keys(), self.name].flatMap((name) => stores.routes.get(name) ?? []);
  const holders = new Map([...stores.routes.by('alias', alias), ...own].map((route) => [route.metadata.name, route]));
  const claimants = [...others.values()].map((other) => claimantOf(stores, other));
  return decideOwner(self, claimants, [...holders.values()].map(aliasHolderOf));
}

/** The treatment of a binding's route when the alias belongs to another binding. */
export function moveOf(
  stores: OwnershipStores,
  binding: Stored<ModelBinding>,
  route: Stored<GatewayRoute>,
): AliasMove | undefined {
  const { name } = binding.metadata;
  if (isReleased(route.spec.alias)) {
    const left = readLeftAlias(route);
    return left !== undefined && isFree(stores, name, aliasKey(...left))
      ? { kind: 'return', gateway: left[0], alias: left[1] }
      : undefined;
  }
  const circle = circleToBreak(name, aliasWorld(stores));
  return circle.length === 0 ? undefined : { kind: 'step_aside', circle };
}

/** No other binding holds the alias or requests it. */
function isFree(stores: OwnershipStores, name: string, alias: string): boolean {
  const holders = stores.routes.by('alias', alias).filter(({ metadata }) => metadata.name !== name);
  const claimants = stores.bindings
    .by('alias', alias)
    .filter(({ metadata }) => metadata.name !== name && metadata.deletionTimestamp === undefined);
  return holders.length === 0 && claimants.length === 0;
}

const leftAliasSchema = z.tuple([z.string().min(1).max(63), z.string().min(1).max(128)]);

/** Gateway and alias; undefined if the annotation cannot be read. */
function readLeftAlias({ metadata }: Stored<GatewayRoute>): readonly [string, string] | undefined {
  try {
    return leftAliasSchema.safeParse(JSON.parse(metadata.annotations?.[leftAliasAnnotation] ?? '')).data;
  } catch {
    return undefined;
  }
}

function aliasWorld(stores: OwnershipStores): AliasWorld {
  return {
    holderOf: (alias) => stores.routes.by('alias', alias)[0]?.spec.binding.name,
    moverOf(name) {
      const binding = stores.bindings.get(name);
      const route = stores.routes.get(name);
      return binding === undefined || route === undefined ? undefined : moverOf(stores, binding, route);
    },
    heirOf(alias, aside) {
      const claimants = stores.bindings
        .by('alias', alias)
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map((one) => claimantOf(stores, one))
        .map((one) => (one.name === aside ? { ...one, aside: true } : one));
      return firstOfClaimants(claimants)?.name;
    },
  };
}

function moverOf(
  stores: OwnershipStores,
  binding: Stored<ModelBinding>,
  route: Stored<GatewayRoute>,
): Mover | undefined {
  const { name, deletionTimestamp, finalizers = [] } = binding.metadata;
  const id = bindingIdOf(binding);
  const wants = wantedBy(binding);
  const holds = aliasKey(route.spec.gateway, route.spec.alias);
  if (deletionTimestamp !== undefined || !finalizers.includes(operatorFinalizer)) return undefined;
  if (id === undefined || !idPattern.test(id) || route.spec.binding.id !== id || wants === holds) return undefined;
  const others = namesakesOf(stores, binding).filter((other) => other.metadata.name !== name);
  const holders = others.flatMap((other) => stores.routes.get(other.metadata.name) ?? []);
  const claimants = others.map((other) => claimantOf(stores, other));
  const owner = ownerOfId(claimantOf(stores, binding), claimants, [route, ...holders].map(aliasHolderOf));
  return owner === name ? { name, id, wants, holds } : undefined;
}

/** The bindings of the same id, itself among them. */
function namesakesOf(stores: OwnershipStores, binding: Stored<ModelBinding>): readonly Stored<ModelBinding>[] {
  const id = bindingIdOf(binding);
  return id === undefined ? [] : stores.bindings.by('id', id);
}

function claimantOf(stores: OwnershipStores, binding: Stored<ModelBinding>): Claimant {
  const { metadata, spec } = binding;
  const id = bindingIdOf(binding);
  const route = stores.routes.get(metadata.name)?.spec;
  return {
    name: metadata.name,
    id,
    gateway: spec.gateway,
    alias: spec.model.alias,
    deleting: metadata.deletionTimestamp !== undefined,
    aside: route !== undefined && route.binding.id === id && isReleased(route.alias),
  };
}

function wantedBy({ spec }: Pick<ModelBinding, 'spec'>): string {
  return aliasKey(spec.gateway, spec.model.alias);
}
