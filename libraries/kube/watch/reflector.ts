import type { Logger } from '#kit/log/logger';
import { type Backoff, createBackoff } from '#kit/time/backoff';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { KubeClient, ListOptions } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/kube-error.ts';
import type { KubeObject } from '../client/kube-object.ts';
import { listAll } from '../client/list-all.ts';
import { createObjectStore, type IndexFunction, type StoreView } from './object-store.ts';

/** A watch that ends sooner than this without a change counts as a failure. */
const shortestWatchMs = 1_000;
/** A `gone` sooner than this after a list waits like any failure; later it is answered by a list at once. */
const promptRelistMs = 5_000;
/** Servers end a watch between these; random, so that watches of many processes do not end together. */
const minWatchSeconds = 20;
const maxWatchSeconds = 25;
/** A watch that ends sooner than it should by more than this was ended by a server that goes away. */
const promptEndMs = 1_000;
/** The longest that the question whether a server is still as new as it was may take. */
const confirmMs = 10_000;
/** After a watch or a list that lasted so long the waits between failures begin anew. */
const patientMs = 10_000;
/** The longest wait that a server may ask for. */
const maxRetryAfterMs = 60_000;

export type ReflectorOptions<R extends KubeObject> = {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly kind: Kind;
  /** Which objects are followed; all of the namespace when absent. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Stops the reflector, as disposing it does. */
  readonly signal?: AbortSignal;
  /**
   * Called once for every change, in order, when the store already holds it. Not called for an object that a list
   * shows at the version that is held. If it throws, the change counts as not delivered: it is delivered again after
   * the next list, and `throughVersion` stays.
   */
  readonly onChange: (name: string, current: Stored<R> | undefined, previous: Stored<R> | undefined) => void;
  /**
   * What is kept of each object, before anything else sees it: who needs what it leaves out reads the object live.
   * It leaves the name, the UID, the versions and whatever a writer tests. All of it is kept when absent.
   */
  readonly transform?: (object: Stored<R>) => Stored<R>;
  readonly indexes?: Readonly<Record<string, IndexFunction<R>>>;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  /** Waits between failures; 800 ms doubling to 30 s, anew after two minutes without one, when absent. */
  readonly backoff?: Backoff;
};

/** A copy of all objects of a kind, kept up to date by one watch; it never stops trying. */
export type Reflector<R extends KubeObject> = AsyncDisposable & {
  /** Resolves after the first whole list was published and delivered; rejects when stopped before. */
  readonly synced: Promise<void>;
  readonly store: StoreView<R>;
  /** Every change up to this version was delivered; "0" before the first list. */
  throughVersion(): string;
  /** When the server was last heard, on the monotonic clock in milliseconds; -Infinity before. */
  lastContact(): number;
};

/** Starts to list and watch. Objects in the store are shared: nobody changes them. */
export function startReflector<R extends KubeObject>(options: ReflectorOptions<R>): Reflector<R> {
  const { client, kind, logger, clock = systemClock, transform = (object) => object } = options;
  const selectors = selectorsOf(options);
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
  const store = createObjectStore<R>(options.indexes ?? {});
  const synced = Promise.withResolvers<void>();
  synced.promise.catch(() => {});
  const backoff =
    options.backoff ?? createBackoff({ firstMs: 800, maxMs: 30_000, resetAfterMs: 120_000, now: clock.now });
  /** Names whose last change was not delivered. */
  const undelivered = new Set<string>();
  let through = '0';
  let position: string | undefined;
  let listedAt = Number.NEGATIVE_INFINITY;
  let contactAt = Number.NEGATIVE_INFINITY;
  /** Whether the server was away since it was last heard: it may have come back with an older state. */
  let isDoubtful = false;

  function contact(): void {
    contactAt = clock.now();
  }

  function deliver(name: string, current: Stored<R> | undefined, previous: Stored<R> | undefined): void {
    try {
      options.onChange(name, current, previous);
      undelivered.delete(name);
    } catch (error) {
      undelivered.add(name);
      logger.warn('change_not_taken', { kind: kind.kind, error: error instanceof Error ? error.name : 'unknown' });
    }
  }

  function advance(version: string): void {
    position = version;
    if (undelivered.size === 0) through = version;
  }

  async function relist(): Promise<void> {
    const list = await listAll<R>(client, kind, { ...selectors, signal, onPage: contact, transform });
    const changes = publish(list.items);
    for (const [name, previous] of changes) deliver(name, store.get(name), previous);
    advance(list.resourceVersion);
    listedAt = clock.now();
    isDoubtful = false;
    if (undelivered.size === 0) synced.resolve();
  }

  /** Puts a whole list in the place of what the store holds, in one step, and says what changed. */
  function publish(items: readonly Stored<R>[]): ReadonlyMap<string, Stored<R> | undefined> {
    const changes = new Map<string, Stored<R> | undefined>();
    for (const name of undelivered) changes.set(name, undefined);
    const names = new Set(items.map((item) => item.metadata.name));
    for (const held of store.list()) {
      if (names.has(held.metadata.name)) continue;
      changes.set(held.metadata.name, held);
      store.remove(held.metadata.name);
    }
    for (const item of items) {
      const previous = store.get(item.metadata.name);
      if (previous !== undefined && isSameVersion(previous, item)) continue;
      changes.set(item.metadata.name, previous);
      store.set(item);
    }
    return changes;
  }

  /**
   * A server that was restored from a copy knows less than we have seen. Asked for a watch from the future, the API
   * server stays silent and tells nothing of what happens meanwhile; asked for a list, it says so.
   */
  async function confirm(version: string): Promise<void> {
    const timely = AbortSignal.any([signal, AbortSignal.timeout(confirmMs)]);
    await client.list<R>(kind, { ...selectors, limit: 1, resourceVersion: version, signal: timely });
    contact();
    isDoubtful = false;
  }

  async function watchFrom(version: string): Promise<void> {
    const started = clock.now();
    const timeoutSeconds = randomSeconds();
    let changes = 0;
    for await (const event of client.watch<R>(kind, {
      ...selectors,
      resourceVersion: version,
      timeoutSeconds,
      signal,
    })) {
      contact();
      if (event.type !== 'BOOKMARK') {
        changes += 1;
        take(event.type, transform(event.object));
      }
      advance(event.object.metadata.resourceVersion);
      if (undelivered.size > 0) throw new KubeError('gone', 'a change was not taken: listing anew');
    }
    contact();
    const lastedMs = clock.now() - started;
    isDoubtful = lastedMs < timeoutSeconds * 1_000 - promptEndMs;
    if (changes === 0 && lastedMs < shortestWatchMs) {
      throw new KubeError('unavailable', 'the server ended the watch at once');
    }
  }

  function take(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Stored<R>): void {
    const { name } = object.metadata;
    const previous = store.get(name);
    if (type === 'DELETED') {
      store.remove(name);
      deliver(name, undefined, previous ?? object);
      return;
    }
    if (previous !== undefined && isSameVersion(previous, object)) return;
    store.set(object);
    deliver(name, object, previous);
  }

  async function cycle(): Promise<void> {
    if (position === undefined || undelivered.size > 0) await relist();
    if (undelivered.size > 0) throw new KubeError('unavailable', 'a change was not taken');
    if (position === undefined) return;
    if (isDoubtful) await confirm(position);
    await watchFrom(position);
  }

  async function pauseAfter(error: unknown, lastedMs: number): Promise<void> {
    // Who waited for so long does not ask too often.
    if (lastedMs >= patientMs) backoff.reset();
    const lost = isKubeError(error, 'gone', 'too_large_resource_version');
    if (lost) position = undefined;
    else isDoubtful = true;
    const atOnce = lost && undelivered.size === 0 && clock.now() - listedAt >= promptRelistMs;
    const asked = isKubeError(error) ? Math.min(error.details.retryAfterMs ?? 0, maxRetryAfterMs) : 0;
    const delayMs = atOnce ? asked : Math.max(asked, backoff.next());
    logger.warn('watch_failed', {
      kind: kind.kind,
      code: isKubeError(error) ? error.code : 'unexpected',
      delayMs: Math.round(delayMs),
    });
    await wait(delayMs, signal);
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const started = clock.now();
      try {
        await cycle();
      } catch (error) {
        if (!signal.aborted) await pauseAfter(error, clock.now() - started);
      }
    }
    synced.reject(new KubeError('network', `stopped before the first list of ${kind.kind}`));
  }

  const running = run();
  return {
    synced: synced.promise,
    store,
    throughVersion: () => through,
    lastContact: () => contactAt,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

function randomSeconds(): number {
  return minWatchSeconds + Math.floor(Math.random() * (maxWatchSeconds - minWatchSeconds + 1));
}

function isSameVersion(a: Stored<KubeObject>, b: Stored<KubeObject>): boolean {
  return a.metadata.uid === b.metadata.uid && a.metadata.resourceVersion === b.metadata.resourceVersion;
}

function selectorsOf({ labelSelector, fieldSelector }: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>) {
  return {
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  };
}
