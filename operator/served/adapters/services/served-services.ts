import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { preconditionTests } from '#kube/apply/apply';
import { differenceOperations } from '#kube/apply/object-difference';
import { sameJson } from '#kube/apply/same-json';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap, Service } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { isKubeError, KubeError } from '#kube/client/kube-error';
import type { KubeObject } from '#kube/client/kube-object';
import { listAll } from '#kube/client/list-all';
import { allSynced } from '#kube/watch/all-synced';
import { startReflector } from '#kube/watch/reflector';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ServedPolicy } from '../../../environment/served-policies.ts';
import { BrokenError } from '../../../reconcile/outcome.ts';
import { type ServedPin, type ServedPolicies, servedPinSchema } from '../../ports.ts';
import {
  makeServedConfigMap,
  makeServedService,
  pinAnnotation,
  servedLabel,
  servedName,
  servedSelector,
} from './resources/served-objects.ts';

/** Stable addresses in a cluster; pins are empty before `synced` resolves. */
type ServedServices = ServedPolicies & {
  readonly synced: Promise<void>;
  /** Milliseconds since the least recent contact of a watch with the API server. */
  silenceMs(): number;
};

/** A Service and a ConfigMap for each entry. The annotation of the Service is authoritative; the ConfigMap is a copy. */
export function createServedServices(options: {
  readonly client: KubeClient;
  readonly entries: readonly ServedPolicy[];
  readonly port: number;
  readonly clock: Clock;
  readonly logger: Logger;
}): ServedServices {
  const { client, entries, port, clock, logger } = options;
  let listener: (name: string) => void = () => undefined;
  let changes = 0;
  const start = <R extends KubeObject>(kind: Kind) =>
    startReflector<R>({
      client,
      kind,
      labelSelector: servedSelector,
      clock,
      logger,
      onChange(_name, current, previous) {
        changes += 1;
        const entry = (current ?? previous)?.metadata.labels?.[servedLabel];
        if (entry !== undefined) listener(entry);
      },
    });
  const services = start<Service>(builtinKinds.service);
  const maps = start<ConfigMap>(builtinKinds.configMap);
  const all = [services, maps];

  /** Creates the object, or changes the existing object until it equals the desired one. */
  async function ensure(kind: Kind, desired: KubeObject, current: Stored<KubeObject> | undefined): Promise<void> {
    const { name } = desired.metadata;
    if (current === undefined) {
      await client.create<KubeObject>(kind, desired);
      return;
    }
    assertOurs(kind, current, desired);
    const operations = differenceOperations(current, desired);
    if (operations.length === 0) return;
    await client.patch(kind, name, [...preconditionTests(current, 'resourceVersion'), ...operations]);
  }

  return {
    entries,
    pins: () => pinsOf(services.store.list()),
    async readPins() {
      const { items } = await listAll<Service>(client, builtinKinds.service, { labelSelector: servedSelector });
      return pinsOf(items);
    },
    async point(name, pin, seen) {
      const desired = makeServedService(name, pin, port);
      const current = await client.get<Service>(builtinKinds.service, desired.metadata.name);
      const held = readPin(current?.metadata.annotations?.[pinAnnotation]);
      const isThere = sameJson(held, pin);
      if (held !== undefined && !isThere && !sameJson(held, seen)) {
        throw new KubeError('conflict', 'another writer changed the address to another workload');
      }
      await ensure(builtinKinds.service, desired, current);
      const map = makeServedConfigMap(name, pin, { namespace: client.namespace, port });
      await ensure(builtinKinds.configMap, map, await client.get<ConfigMap>(builtinKinds.configMap, map.metadata.name));
      return !isThere;
    },
    async withdraw(name) {
      for (const kind of [builtinKinds.configMap, builtinKinds.service]) {
        const held = await client.get<KubeObject>(kind, servedName(name));
        if (held?.metadata.labels?.[servedLabel] !== name) continue;
        await client.delete(kind, servedName(name), { uid: held.metadata.uid }).catch((error: unknown) => {
          if (!isKubeError(error, 'not_found', 'conflict')) throw error;
        });
      }
    },
    onChange(next) {
      listener = next;
    },
    changes: () => changes,
    synced: allSynced(all),
    silenceMs: () => Math.max(...all.map((one) => clock.now() - one.lastContact())),
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

function pinsOf(services: readonly Stored<Service>[]): ReadonlyMap<string, ServedPin> {
  const pins = new Map<string, ServedPin>();
  for (const { metadata } of services) {
    const entry = metadata.labels?.[servedLabel];
    const pin = readPin(metadata.annotations?.[pinAnnotation]);
    if (entry !== undefined && pin !== undefined) pins.set(entry, pin);
  }
  return pins;
}

function readPin(text: string | undefined): ServedPin | undefined {
  try {
    const parsed = servedPinSchema.safeParse(JSON.parse(text ?? ''));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** An object without the label of the entry has another owner. */
function assertOurs(kind: Kind, current: KubeObject, desired: KubeObject): void {
  const { name, labels } = desired.metadata;
  if (current.metadata.labels?.[servedLabel] === labels?.[servedLabel]) return;
  throw new BrokenError('Refused', `the ${kind.kind} ${name} exists and has another owner: remove it`);
}
