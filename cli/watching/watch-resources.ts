import { createBackoff } from '#kit/time/backoff';
import { systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import { sameJson } from '#kube/apply/same-json';
import type { KubeClient } from '#kube/client/client';
import { isKubeError } from '#kube/client/kube-error';
import { listAll } from '#kube/client/list-all';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { ManagementUnreachableError } from '../management/management-error.ts';

/** A resource that is new or was changed, or that no longer exists. */
export type ResourceChange = { readonly is: 'set' | 'gone'; readonly object: Stored<Resource> };

type ChangeBatch = readonly ResourceChange[];

type WatchedResources = {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly kind: Kind;
  readonly selector?: string | undefined;
  readonly signal: AbortSignal;
  /** Called when the server cannot be read; the watch continues when it answers again. */
  readonly onBroken: (error: unknown) => Promise<void>;
};

/** Pause between two reads of a transport that cannot be watched. */
const readEveryMs = 2_000;
/** A watch that the server ends earlier than this is not reopened immediately. */
const shortestWatchMs = 1_000;

/**
 * All resources of a kind as the first batch, then every change, until the signal is aborted. After a broken connection
 * the list is read again and only differences are delivered. With a management API the list is read every two seconds.
 * @throws the error of the first list, and a later error that is not retryable
 */
export async function* watchResources(options: WatchedResources): AsyncGenerator<ChangeBatch, void, void> {
  const { client, kind, selector, signal } = options;
  const known = new Map<string, Stored<Resource>>();
  const backoff = createBackoff({ firstMs: 500, maxMs: 10_000, resetAfterMs: 20_000, now: systemClock.now });
  const selected = selector === undefined ? {} : { labelSelector: selector };
  let hasRead = false;
  while (!signal.aborted) {
    try {
      const list = await listAll(client, kind, { ...selected, signal });
      const changes = differencesTo(known, list.items);
      if (!hasRead || changes.length > 0) yield changes;
      hasRead = true;
      if (list.resourceVersion === '') await wait(readEveryMs, signal);
      else yield* follow({ ...options, known }, list.resourceVersion);
    } catch (error) {
      if (signal.aborted) return;
      if (!hasRead || !canRecover(error)) throw error;
      if (!isKubeError(error, 'gone')) await options.onBroken(error);
      await wait(backoff.next(), signal);
    }
  }
}

/** Delivers changes after a version until the connection breaks or the version is too old. */
async function* follow(
  { client, kind, selector, signal, known }: WatchedResources & { readonly known: Map<string, Stored<Resource>> },
  from: string,
): AsyncGenerator<ChangeBatch, void, void> {
  const selected = selector === undefined ? {} : { labelSelector: selector };
  let position = from;
  while (!signal.aborted) {
    const started = performance.now();
    for await (const event of client.watch(kind, { ...selected, resourceVersion: position, signal })) {
      position = event.object.metadata.resourceVersion;
      if (event.type === 'BOOKMARK') continue;
      const change: ResourceChange = { is: event.type === 'DELETED' ? 'gone' : 'set', object: event.object };
      keep(known, change);
      yield [change];
    }
    if (performance.now() - started < shortestWatchMs) await wait(shortestWatchMs, signal);
  }
}

function keep(known: Map<string, Stored<Resource>>, { is, object }: ResourceChange): void {
  if (is === 'gone') known.delete(object.metadata.uid);
  else known.set(object.metadata.uid, object);
}

function differencesTo(known: Map<string, Stored<Resource>>, items: readonly Stored<Resource>[]): ChangeBatch {
  const present = new Set(items.map(({ metadata }) => metadata.uid));
  const gone = [...known.values()].filter(({ metadata }) => !present.has(metadata.uid));
  const set = items.filter((object) => !sameJson(known.get(object.metadata.uid), object));
  const changes: ChangeBatch = [
    ...gone.map((object) => ({ is: 'gone', object }) as const),
    ...set.map((object) => ({ is: 'set', object }) as const),
  ];
  for (const change of changes) keep(known, change);
  return changes;
}

function canRecover(error: unknown): boolean {
  if (error instanceof ManagementUnreachableError) return true;
  return isKubeError(error, 'gone', 'network', 'unavailable', 'too_many_requests', 'too_large_resource_version');
}
