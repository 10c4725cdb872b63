import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { applyDesired, applyStatus } from '#kube/apply/apply';
import type { KubeClient } from '#kube/client/client';
import type { EventRecorder } from '#kube/events/event-recorder';
import type { CollectionResource } from '#resources/collection';
import { kinds, operatorFinalizer } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { Stores } from '../../caches/caches.ts';
import type { ManagedCollections } from '../../collections/ports.ts';
import { transitionEvents, type Watched } from '../../events/transition-events.ts';
import { BrokenError, type PassOutcome } from '../../reconcile/outcome.ts';
import { awaySentences } from './conditions.ts';
import { type CollectionResult, decideCollection } from './decide.ts';
import { collectionPlace, declaredCollection, managerOf } from './declared-collection.ts';
import type { CollectionSnapshot } from './snapshot.ts';
import { makeCollectionStatus } from './status.ts';

const maxSteps = 8;
/** Intervals between reads of a collection, milliseconds: the service reports no changes. */
const lookMs = { whileReindexing: 2_000, whileUnjudged: 10_000, otherwise: 60_000 } as const;

const watched: readonly Watched[] = [
  { type: 'Ready', status: 'False', as: { type: 'Warning', action: 'Ensure' } },
  { type: 'Ready', status: 'True', as: { type: 'Normal', action: 'Ensure' } },
  { type: 'ProfileActive', status: 'False', as: { type: 'Normal', action: 'Reindex' } },
  { type: 'ProviderReachable', status: 'False', as: { type: 'Warning', action: 'Judge' } },
];

/** The retrieval service of an installation, and the tenants whose collections resources may declare. */
export type CollectionService = {
  readonly collections: ManagedCollections;
  readonly isApproved: (tenant: string) => boolean;
};

type CollectionControllerOptions = {
  readonly client: KubeClient;
  readonly stores: Pick<Stores, 'collections'>;
  /** The retrieval service; absent if the installation has none. */
  readonly service: CollectionService | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: Pick<EventRecorder, 'record'>;
};

/** Keeps the collections of the retrieval service as their resources declare them, and mirrors their state. */
export function createCollectionController(options: CollectionControllerOptions) {
  const { client, stores, service, clock, logger, events } = options;

  async function reconcile(name: string, signal: AbortSignal): Promise<PassOutcome> {
    const found = stores.collections.get(name);
    if (found === undefined) return { kind: 'settled' };
    let resource = found;
    let answers: Pick<CollectionSnapshot, 'ensured' | 'ended'> = { ensured: undefined, ended: undefined };
    for (let step = 0; step < maxSteps; step++) {
      const decided = decideCollection(snapshotOf(resource, answers));
      const { finalizers = [] } = resource.metadata;
      const manager = managerOf(resource);
      const place = collectionPlace(manager, resource.spec);
      switch (decided.kind) {
        case 'nothing':
          return { kind: 'settled' };
        case 'adopt':
          resource = await write(resource, [...finalizers, operatorFinalizer]);
          break;
        case 'ensure':
          answers = {
            ...answers,
            ensured: await ask().ensure(place, declaredCollection(manager, resource.spec), signal),
          };
          break;
        case 'delete':
        case 'release':
          answers = { ...answers, ended: await ask()[decided.kind](place, manager, signal) };
          if (answers.ended?.kind === 'ended') logger.info('collection_ended', { name, action: decided.kind });
          break;
        case 'let_go':
          await write(
            resource,
            finalizers.filter((one) => one !== operatorFinalizer),
          );
          return { kind: 'settled' };
        case 'settle':
          return settle(resource, decided.result);
      }
    }
    throw new TypeError('the reconcile of a collection exceeded its maximum number of steps');
  }

  function snapshotOf(
    { metadata, spec }: Stored<CollectionResource>,
    answers: Pick<CollectionSnapshot, 'ensured' | 'ended'>,
  ): CollectionSnapshot {
    return {
      deleting: metadata.deletionTimestamp !== undefined,
      hasFinalizer: metadata.finalizers?.includes(operatorFinalizer) ?? false,
      deletionPolicy: spec.deletionPolicy,
      isConfigured: service !== undefined,
      isTenantApproved: service?.isApproved(spec.tenant) ?? false,
      ...answers,
    };
  }

  function ask(): ManagedCollections {
    if (service === undefined) throw new TypeError('no retrieval service is configured');
    return service.collections;
  }

  function write(
    resource: Stored<CollectionResource>,
    finalizers: readonly string[],
  ): Promise<Stored<CollectionResource>> {
    return applyDesired(client, kinds.collection, resource, { finalizers });
  }

  async function settle(resource: Stored<CollectionResource>, result: CollectionResult): Promise<PassOutcome> {
    const status = makeCollectionStatus(resource, result, clock.date());
    await applyStatus(client, kinds.collection, resource, status);
    for (const note of transitionEvents(resource.status?.conditions, status.conditions, watched)) {
      events.record({ regarding: resource, ...note });
    }
    switch (result.kind) {
      // The queue retries with a backoff.
      case 'away':
        throw new BrokenError('RetrievalUnavailable', awaySentences[result.why]);
      // The service may get the missing profile, or the conflict may be resolved, without a change of the resource.
      case 'refused':
      case 'conflict':
      case 'has_children':
        return { kind: 'waiting', afterMs: lookMs.otherwise };
      case 'ensured':
        return { kind: 'waiting', afterMs: nextLookMs(result) };
      case 'not_configured':
      case 'tenant_not_approved':
        return { kind: 'settled' };
    }
  }

  return { reconcile };
}

function nextLookMs({ collection, failingProviders }: Extract<CollectionResult, { kind: 'ensured' }>): number {
  if (collection.reindex?.state === 'building') return lookMs.whileReindexing;
  return failingProviders.length > 0 ? lookMs.whileUnjudged : lookMs.otherwise;
}
