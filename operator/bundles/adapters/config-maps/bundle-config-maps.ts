import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { ensureObject, NameConflictError } from '#kube/apply/ensure-object';
import { builtinKinds } from '#kube/client/builtin-kinds';
import type { ConfigMap } from '#kube/client/builtin-types';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { listAll } from '#kube/client/list-all';
import { startReflector } from '#kube/watch/reflector';
import type { Stored } from '#resources/metadata';
import { BrokenError } from '../../../reconcile/outcome.ts';
import { createHoldings } from '../../holdings.ts';
import type { BundleStore } from '../../ports.ts';
import { bundleMapName, bundlesSelector, digestAnnotation, makeBundleMap } from '../../resources/bundle-config-map.ts';

type BundleConfigMapsOptions = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** Bundles in a cluster; the store is empty before `synced`. */
type BundleConfigMaps = BundleStore & {
  readonly synced: Promise<void>;
  /** Milliseconds since the watch last received data. */
  silenceMs(): number;
};

/**
 * Bundles as immutable ConfigMaps, named by a part of their digest. Only their metadata is watched: all bundles
 * together may exceed the memory of a process.
 */
export function createBundleConfigMaps(options: BundleConfigMapsOptions): BundleConfigMaps {
  const { client, clock, logger } = options;
  const holdings = createHoldings();
  let listener: (digest: string) => void = () => undefined;
  const reflector = startReflector<ConfigMap>({
    client,
    kind: builtinKinds.configMapMetadata,
    labelSelector: bundlesSelector,
    clock,
    logger,
    onChange(_name, current, previous) {
      const digest = previous === undefined ? undefined : digestOf(previous);
      if (digest !== undefined && (current === undefined || digestOf(current) !== digest)) listener(digest);
    },
  });

  function isStored(digest: string): boolean {
    const held = reflector.store.get(bundleMapName(digest));
    return held !== undefined && digestOf(held) === digest && held.metadata.deletionTimestamp === undefined;
  }

  async function store(digest: string, bytes: Buffer): Promise<void> {
    if (isStored(digest)) return;
    try {
      const desired = makeBundleMap(digest, bytes);
      const { action } = await ensureObject(client, builtinKinds.configMap, desired, { digestAnnotation });
      if (action === 'created') logger.info('bundle_stored', { digest, bytes: bytes.length });
    } catch (error) {
      if (!(error instanceof NameConflictError)) throw error;
      throw new BrokenError('Refused', error.message, { cause: error });
    }
  }

  return {
    async put(digest, bytes) {
      const holding = holdings.hold(digest);
      try {
        await store(digest, bytes);
        return holding;
      } catch (error) {
        holding[Symbol.dispose]();
        throw error;
      }
    },
    async has(digest) {
      await reflector.synced;
      return isStored(digest);
    },
    async sweep(listNeeded) {
      holdings.beginSweep();
      const needed = await listNeeded();
      // The list is read live: the watch may be stale, and no later sweep would remove a bundle that this one misses.
      const { items } = await listAll<ConfigMap>(client, builtinKinds.configMapMetadata, {
        labelSelector: bundlesSelector,
      });
      for (const held of items) {
        const digest = digestOf(held);
        // An object without a matching digest is not a bundle and is not removed.
        if (digest === undefined || bundleMapName(digest) !== held.metadata.name) continue;
        if (needed.has(digest) || holdings.isTouched(digest)) continue;
        await remove(client, held);
      }
    },
    onLost(next) {
      listener = next;
    },
    synced: reflector.synced,
    silenceMs: () => clock.now() - reflector.lastContact(),
    [Symbol.asyncDispose]: () => reflector[Symbol.asyncDispose](),
  };
}

function digestOf({ metadata }: Pick<ConfigMap, 'metadata'>): string | undefined {
  return metadata.annotations?.[digestAnnotation];
}

async function remove(client: Pick<KubeClient, 'delete'>, { metadata }: Stored<ConfigMap>): Promise<void> {
  const { name, uid } = metadata;
  try {
    await client.delete(builtinKinds.configMap, name, { uid });
  } catch (error) {
    if (!isKubeError(error, 'not_found', 'conflict')) throw error;
  }
}
