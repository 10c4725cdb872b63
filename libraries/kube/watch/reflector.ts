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
import { shareStrings } from './share-strings.ts';

/** A watch that ends sooner than this without a change is retried with backoff. */
const shortestWatchMs = 1_000;
/**
 * A `gone` that comes earlier than this after a list is retried with backoff; a later `gone` leads to a new list
 * immediately. Milliseconds.
 */
const minRelistIntervalMs = 5_000;
/** The server ends a watch after a random time within these, so that watches of many processes do not end together. */
const minWatchSeconds = 20;
const maxWatchSeconds = 25;
/** A watch that ends earlier than requested by more than this was ended by a server that shuts down. */
const earlyEndMs = 1_000;
/** Timeout of the list that confirms that the server has not returned to an older state. */
const confirmTimeoutMs = 10_000;
/** A watch or list that lasted this long resets the backoff. */
const resetBackoffAfterMs = 10_000;
/** Longest Retry-After that is respected. */
const maxRetryAfterMs = 60_000;

export type ReflectorOptions<R extends KubeObject> = {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly kind: Kind;
  /** Selects the watched objects; all objects of the namespace when absent. */
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Stops the reflector, as disposing it does. */
  readonly signal?: AbortSignal;
  /**
   * Called once for every change, in order, after the store was updated; not called for an object that a new list
   * returns unchanged. If it throws, the change is delivered again after the next list, and `throughVersion` does not
   * advance until then.
   */
  readonly onChange: (name: string, current: Stored<R> | undefined, previous: Stored<R> | undefined) => void;
  /**
   * Returns the part of an object that the store keeps; callers read the other members live. The part must contain the
   * name, the UID, the resource version, the generation and the members that a write tests. When absent, the whole
   * object is kept.
   */
  readonly transform?: (object: Stored<R>) => Stored<R>;
  readonly indexes?: Readonly<Record<string, IndexFunction<R>>>;
  /**
   * Milliseconds. If for longer than this it was not proved that the store is current, all objects are listed again
   * after an interruption, instead of a watch from the last version. When absent, the next watch proves at its end that
   * the store is current.
   */
  readonly relistAfterMs?: number;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  /** Backoff after failures. When absent: 800 ms, doubling to 30 s, reset after two minutes without a failure. */
  readonly backoff?: Backoff;
};

/** A local copy of all objects of a kind, kept current by one watch that is retried until the reflector is stopped. */
export type Reflector<R extends KubeObject> = AsyncDisposable & {
  /** Resolves when the first complete list is in the store and delivered; rejects when stopped before. */
  readonly synced: Promise<void>;
  readonly store: StoreView<R>;
  /** The version up to which every change was delivered; "0" before the first list. */
  throughVersion(): string;
  /**
   * The time of the last answer of the server, on the monotonic clock in milliseconds; -Infinity before the first
   * answer.
   */
  lastContact(): number;
  /**
   * The time up to which the store has every change, on the monotonic clock in milliseconds; -Infinity before the first
   * list. It is proved by a complete list, a bookmark, and a watch that ends at its time. Other answers are contacts
   * only.
   */
  currentAt(): number;
};

/** Starts to list and watch. Objects in the store are shared and must not be modified. */
export function startReflector<R extends KubeObject>(options: ReflectorOptions<R>): Reflector<R> {
  const { client, kind, logger, clock = systemClock, transform = (object) => object } = options;
  const kept = (object: Stored<R>): Stored<R> => shareStrings(transform(object));
  const selectors = selectorsOf(options);
  const { relistAfterMs = Number.POSITIVE_INFINITY } = options;
  const stop = new AbortController();
  const signal = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
  const store = createObjectStore<R>(options.indexes ?? {});
  const synced = Promise.withResolvers<void>();
  synced.promise.catch(() => {});
  const backoff =
    options.backoff ?? createBackoff({ firstMs: 800, maxMs: 30_000, resetAfterMs: 120_000, now: clock.now });
  /** Names of objects whose last change was not delivered. */
  const undelivered = new Set<string>();
  let through = '0';
  let position: string | undefined;
  let listedAt = Number.NEGATIVE_INFINITY;
  let contactAt = Number.NEGATIVE_INFINITY;
  let currentAt = Number.NEGATIVE_INFINITY;
  /** Whether the server was unreachable or restarted, so that its state may come from an older backup. */
  let needsConfirmation = false;

  function contact(): void {
    contactAt = clock.now();
  }

  function deliver(name: string, current: Stored<R> | undefined, previous: Stored<R> | undefined): void {
    try {
      options.onChange(name, current, previous);
      undelivered.delete(name);
    } catch (error) {
      undelivered.add(name);
      logger.warn('change_handler_failed', { kind: kind.kind, error: error instanceof Error ? error.name : 'unknown' });
    }
  }

  function advance(version: string): void {
    position = version;
    if (undelivered.size === 0) through = version;
  }

  async function relist(): Promise<void> {
    const askedAt = clock.now();
    const list = await listAll<R>(client, kind, { ...selectors, signal, onPage: contact, transform: kept });
    const changes = publish(list.items);
    for (const [name, previous] of changes) deliver(name, store.get(name), previous);
    advance(list.resourceVersion);
    listedAt = clock.now();
    needsConfirmation = false;
    if (undelivered.size > 0) return;
    currentAt = askedAt;
    synced.resolve();
  }

  /**
   * Replaces the content of the store by a complete list in one step; returns the previous object of each changed
   * object.
   */
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
   * A server that was restored from a backup may be older than the version this reflector has seen. A watch from a future
   * version sends no events and no error; a list from it fails with `too_large_resource_version`.
   */
  async function confirm(version: string): Promise<void> {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(confirmTimeoutMs)]);
    await client.list<R>(kind, { ...selectors, limit: 1, resourceVersion: version, signal: limited });
    contact();
    needsConfirmation = false;
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
        applyEvent(event.type, kept(event.object));
      }
      advance(event.object.metadata.resourceVersion);
      if (undelivered.size > 0) throw new KubeError('gone', 'a change handler failed: all objects are listed again');
      if (event.type === 'BOOKMARK') currentAt = clock.now();
    }
    contact();
    const lastedMs = clock.now() - started;
    needsConfirmation = lastedMs < timeoutSeconds * 1_000 - earlyEndMs;
    if (changes === 0 && lastedMs < shortestWatchMs) {
      throw new KubeError('unavailable', 'the server ended the watch at once');
    }
    if (!needsConfirmation) currentAt = clock.now();
  }

  function applyEvent(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: Stored<R>): void {
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
    const isOld = needsConfirmation && clock.now() - currentAt > relistAfterMs;
    if (position === undefined || undelivered.size > 0 || isOld) await relist();
    if (undelivered.size > 0) throw new KubeError('unavailable', 'a change handler failed');
    if (position === undefined) return;
    if (needsConfirmation) await confirm(position);
    await watchFrom(position);
  }

  async function pauseAfter(error: unknown, lastedMs: number): Promise<void> {
    if (lastedMs >= resetBackoffAfterMs) backoff.reset();
    const mustRelist = isKubeError(error, 'gone', 'too_large_resource_version');
    if (mustRelist) position = undefined;
    else needsConfirmation = true;
    const atOnce = mustRelist && undelivered.size === 0 && clock.now() - listedAt >= minRelistIntervalMs;
    const retryAfterMs = isKubeError(error) ? Math.min(error.details.retryAfterMs ?? 0, maxRetryAfterMs) : 0;
    const delayMs = atOnce ? retryAfterMs : Math.max(retryAfterMs, backoff.next());
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
    currentAt: () => currentAt,
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
