import type { KubeClient, ListOptions, WatchEvent, WatchOptions } from '#kube/client/client';
import { KubeError } from '#kube/client/kube-error';
import type { KubeObject } from '#kube/client/kube-object';
import { statusToError } from '#kube/client/status-object';
import type { Kind } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import { ApiRefusal, statusOf } from '../../operator/folder-api/api-refusal.ts';
import type { Death } from '../../operator/testing/mortal-client.ts';
import { type MemoryApi, modelNamespace, type RecordedChange, type Request } from './memory-api.ts';
import type { Life, VirtualTime } from './virtual-time.ts';

/** Faults of the network between the processes and the API server; probabilities are per call. */
type Weather = {
  /** No request is answered before this time. */
  outageUntil: number;
  /** Probability that a request or its answer is lost. */
  loss: number;
  /** Probability that a request is answered with 429, 500 or 503. */
  refusals: number;
  /** Longest normal latency of a request, an answer or an event in milliseconds. */
  usualMs: number;
  /** Probability of a much longer latency. */
  slow: number;
  readonly slowMs: number;
  /** Probability that a watch stays silent until its client times out. */
  silence: number;
  /** The detector does not answer. */
  providerAway: boolean;
};

export const fineWeather: Weather = {
  outageUntil: 0,
  loss: 0,
  refusals: 0,
  usualMs: 8,
  slow: 0,
  slowMs: 30_000,
  silence: 0,
  providerAway: false,
};

export type UnreliableClient = KubeClient & {
  /** Number of requested writes, without events and leases. */
  writes(): number;
};

export type Network = {
  readonly time: VirtualTime;
  readonly api: MemoryApi;
  readonly weather: Weather;
  /** Open watches that can be cut. */
  readonly cuts: Set<() => void>;
};

/** The client closes a watch this long after its timeout if the server has not ended it. */
const halfOpenMs = 5_000;
const quietKinds: readonly string[] = ['Lease', 'Event'];

/**
 * The network between one process and the API server: requests may be delayed, lost, refused, or executed without an
 * answer.
 */
export function createUnreliableClient(network: Network, life: Life, death?: Death): UnreliableClient {
  const { time, api, weather } = network;
  const { random, clock } = time;
  let writes = 0;

  function travel(): Promise<void> {
    const isSlow = random() < weather.slow;
    return time.delay((isSlow ? weather.slowMs : weather.usualMs) * random());
  }

  /** The fault by which a request is not executed. */
  function refusal(): KubeError | undefined {
    if (clock.now() < weather.outageUntil) return new KubeError('network', 'no answer');
    if (random() < weather.loss) return new KubeError('network', 'the request was lost');
    if (random() >= weather.refusals) return undefined;
    if (random() < 0.4)
      return new KubeError('too_many_requests', 'too many requests', { status: 429, retryAfterMs: 1_000 });
    return new KubeError('unavailable', 'an internal error occurred', { status: 500 });
  }

  async function call<T>(run: () => T): Promise<T> {
    await travel();
    // A request that a process sent before its crash may still arrive.
    if (life.state() === 'dead' && random() < 0.5) await life.awake();
    let result: { readonly value: T } | { readonly error: unknown };
    const refused = refusal();
    try {
      if (refused !== undefined) throw refused;
      result = { value: run() };
    } catch (error) {
      result = { error: error instanceof ApiRefusal ? statusToError(error.httpStatus, statusOf(error)) : error };
    }
    if (random() < weather.loss) result = { error: new KubeError('network', 'the answer was lost') };
    await travel();
    await life.awake();
    if ('error' in result) throw result.error;
    return result.value;
  }

  async function write<R extends KubeObject>(request: Request): Promise<Stored<R>> {
    if (quietKinds.includes(request.kind.kind)) return call(() => api.write(life.name, request) as Stored<R>);
    writes += 1;
    const isLast = writes === death?.write;
    if (isLast && death?.moment === 'before') life.kill();
    if (life.state() === 'dead') await life.awake();
    return call(() => {
      const done = api.write(life.name, request) as Stored<R>;
      if (isLast) life.kill();
      return done;
    });
  }

  async function* watch<R extends KubeObject>(
    kind: Kind,
    options: WatchOptions,
  ): AsyncGenerator<WatchEvent<R>, void, void> {
    const { signal, timeoutSeconds = 20 } = options;
    let cursor = Number(options.resourceVersion);
    await call(() => {
      if (cursor > api.version()) throw new ApiRefusal('Timeout', 'Too large resource version');
    });
    if (cursor < api.base()) throw new KubeError('gone', 'too old resource version', { status: 410 });
    const endsAt = clock.now() + timeoutSeconds * 1_000;
    const isSilent = random() < weather.silence;
    const line = watchLine(network, isSilent ? endsAt + halfOpenMs : endsAt, signal);
    try {
      while (true) {
        const end = isSilent ? await line.ended() : line.end();
        if (end === 'aborted') return;
        if (end === 'cut' || isSilent) {
          await life.awake();
          throw new KubeError('network', 'the watch broke');
        }
        const change = api.after(kind, cursor, options);
        if (change === undefined) {
          cursor = api.version();
          if (end === 'over') break;
          await line.next(cursor);
          continue;
        }
        await travel();
        await life.awake();
        if (line.end() === 'aborted') return;
        cursor = change.version;
        yield eventOf<R>(change);
      }
      await life.awake();
      yield { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(cursor) } } };
    } finally {
      line[Symbol.dispose]();
    }
  }

  return {
    namespace: modelNamespace,
    get: (kind, name) => call(() => api.get(kind, name)) as never,
    list: (kind: Kind, options: ListOptions = {}) => call(() => api.list(kind, options)) as never,
    create: (kind, object) => write({ verb: 'create', kind, object }),
    patch: (kind, name, operations) => write({ verb: 'patch', kind, name, operations }),
    patchStatus: (kind, name, operations) => write({ verb: 'patchStatus', kind, name, operations }),
    delete: async (kind, name, options) => void (await write({ verb: 'delete', kind, name, options })),
    watch,
    writes: () => writes,
  };
}

function eventOf<R extends KubeObject>({ before, after, version }: RecordedChange): WatchEvent<R> {
  if (after !== undefined) return { type: before === undefined ? 'ADDED' : 'MODIFIED', object: after as Stored<R> };
  const metadata = { ...before?.metadata, resourceVersion: String(version) };
  return { type: 'DELETED', object: { ...before, metadata } as Stored<R> };
}

type End = 'aborted' | 'cut' | 'over' | undefined;

type WatchLine = Disposable & {
  end(): End;
  /** Resolves when the watch has ended. */
  ended(): Promise<End>;
  /** Resolves when there is a change after a version, or when the watch has ended. */
  next(version: number): Promise<void>;
};

/** The connection of one watch: it is open until its timeout, until it is cut, or until its client closes it. */
function watchLine({ time, api, cuts }: Network, endsAt: number, signal: AbortSignal | undefined): WatchLine {
  let isCut = false;
  let wake: () => void = () => undefined;
  const notify = (): void => wake();
  const cut = (): void => {
    isCut = true;
    wake();
  };
  cuts.add(cut);
  signal?.addEventListener('abort', notify);
  const unsubscribe = api.onChange(notify);
  const cancel = time.schedule(endsAt - time.clock.now(), notify);
  const end = (): End => {
    if (signal?.aborted) return 'aborted';
    if (isCut) return 'cut';
    return time.clock.now() >= endsAt ? 'over' : undefined;
  };
  const woken = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  return {
    end,
    async ended() {
      while (end() === undefined) await woken();
      return end();
    },
    async next(version) {
      while (end() === undefined && api.version() === version) await woken();
    },
    [Symbol.dispose]() {
      cuts.delete(cut);
      signal?.removeEventListener('abort', notify);
      unsubscribe();
      cancel();
    },
  };
}
