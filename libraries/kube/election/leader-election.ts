import { randomUUID } from 'node:crypto';
import type { Logger } from '#kit/log/logger';
import { type Clock, systemClock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';
import type { Stored } from '#resources/metadata';
import { builtinKinds } from '../client/builtin-kinds.ts';
import type { Lease } from '../client/builtin-types.ts';
import type { KubeClient } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/kube-error.ts';
import { type Reflector, startReflector } from '../watch/reflector.ts';
import {
  acquireOperations,
  newLease,
  type ObservedLease,
  observe,
  releaseOperations,
  renewOperations,
} from './lease-record.ts';

/** Why leadership ended: another candidate holds the lease, or it could not be renewed in time. */
export type LossReason = 'taken' | 'not_renewed';

export type LeaderElectionOptions = {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch' | 'create' | 'patch'>;
  /** Name of the lease that the candidates compete for. */
  readonly name: string;
  /** Name of this candidate, for people. A random suffix makes the holder unique for each process. */
  readonly identity: string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  /** How long a lease is valid without renewal, milliseconds; whole seconds, 15,000 when absent. */
  readonly leaseMs?: number;
  /** How long after its last renewal a leader may still write, milliseconds; 10,000 when absent. */
  readonly renewDeadlineMs?: number;
  /** Pause between renewals and after a failed attempt, milliseconds; 2,000 when absent. */
  readonly retryMs?: number;
  /** Returns a number from 0 to 1, for the jitter. */
  readonly random?: () => number;
  readonly meter?: ElectionMeter;
};

/** Receives the events that election metrics count. */
export type ElectionMeter = {
  leading(isLeader: boolean): void;
  /** A renewal had to read the lease first, because another client had written it. */
  slowPath(): void;
};

export type LeaderElection = AsyncDisposable & {
  /** The holderIdentity of this process. */
  readonly holder: string;
  /** Resolves when this process becomes the leader; never if it is disposed before. */
  readonly elected: Promise<void>;
  /** Whether it is certain that this process is the leader now, so that it may send a write. */
  readonly lost: Promise<LossReason>;
  /** Whether this process is certain to be the leader now, so that it may send a write. */
  writesAllowed(): boolean;
  /** Milliseconds since the election loop last ran; above `deadAfterMs` the process must be restarted. */
  silenceMs(): number;
  /** Longest healthy `silenceMs`: the lease duration and a tolerance. */
  readonly deadAfterMs: number;
};

/** Pauses after failed attempts are up to this many retry periods longer, so that candidates do not retry together. */
const jitter = 1.2;
/** Timeout of one attempt; a leader has several within its renew deadline. */
const attemptMs = 5_000;
/** A standby runs its election loop at least this often, which keeps `silenceMs` low. */
const longestSleepMs = 5_000;
const silenceToleranceMs = 20_000;
const releaseMs = 2_000;

/**
 * Takes part in a leader election by a Lease (coordination.k8s.io/v1), as client-go does: the leader renews the lease,
 * and a standby acquires it when it observed no change for the lease duration. Durations are measured on the local
 * monotonic clock, so that clock skew does not matter. A standby watches the lease and tries to acquire it when it
 * expires or is released. Disposing releases a held lease, so that the writers must be disposed first.
 * @throws RangeError when the durations leave no margin between the last write of a leader and the first write of its
 * successor
 */
export function startLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = options;
  if (!(leaseMs > renewDeadlineMs && renewDeadlineMs > retryMs * jitter)) {
    throw new RangeError('leaseMs must exceed renewDeadlineMs, which must exceed 1.2 times retryMs');
  }
  return new Candidate(options, { leaseMs, renewDeadlineMs, retryMs });
}

type Times = { readonly leaseMs: number; readonly renewDeadlineMs: number; readonly retryMs: number };

class Candidate implements LeaderElection {
  readonly deadAfterMs: number;
  readonly holder: string;
  readonly #options: LeaderElectionOptions;
  readonly #times: Times;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #elected = Promise.withResolvers<void>();
  readonly #lost = Promise.withResolvers<LossReason>();
  readonly #running: Promise<void>;
  readonly #standby: Reflector<Lease>;
  #observed: ObservedLease | undefined;
  #synced = false;
  /** The lease as this process last wrote it; undefined while it is not the leader. */
  #held: Stored<Lease> | undefined;
  /** The time at which the last successful renewal of the lease was sent, by the monotonic clock and as time of day. */
  #renewed = { at: Number.NEGATIVE_INFINITY, date: Number.NEGATIVE_INFINITY };
  #isOver = false;
  #ranAt: number;
  #wake = (): void => {};

  constructor(options: LeaderElectionOptions, times: Times) {
    this.#options = options;
    this.#times = times;
    this.#clock = options.clock ?? systemClock;
    this.holder = `${options.identity}_${randomUUID()}`;
    this.#ranAt = this.#clock.now();
    this.deadAfterMs = times.leaseMs + silenceToleranceMs;
    this.#standby = this.#watchLease();
    this.#running = this.#run();
  }

  get elected(): Promise<void> {
    return this.#elected.promise;
  }

  get lost(): Promise<LossReason> {
    return this.#lost.promise;
  }

  writesAllowed(): boolean {
    return this.#held !== undefined && !this.#isOver && this.#sinceRenewalMs() < this.#times.renewDeadlineMs;
  }

  silenceMs(): number {
    return this.#clock.now() - this.#ranAt;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#stop.abort();
    this.#wake();
    await Promise.all([this.#running, this.#standby[Symbol.asyncDispose]()]);
    await this.#release();
  }

  /**
   * The time since the last renewal, the larger of both measures: the monotonic clock stops while a machine is
   * suspended, and the time of day can be set.
   */
  #sinceRenewalMs(): number {
    const { at, date } = this.#renewed;
    return Math.max(this.#clock.now() - at, this.#clock.date().getTime() - date);
  }

  #watchLease(): Reflector<Lease> {
    const { client, logger, name } = this.#options;
    const reflector = startReflector<Lease>({
      client,
      kind: builtinKinds.lease,
      fieldSelector: `metadata.name=${name}`,
      signal: this.#stop.signal,
      logger,
      clock: this.#clock,
      onChange: (_name, current) => this.#observe(current),
    });
    reflector.synced.then(
      () => {
        this.#synced = true;
        this.#wake();
      },
      () => {},
    );
    return reflector;
  }

  #observe(lease: Stored<Lease> | undefined): void {
    if (this.#held !== undefined) return;
    this.#observed = observe(this.#observed, lease, this.#clock.now(), this.#times.leaseMs);
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      this.#ranAt = this.#clock.now();
      const sleepMs = this.#held === undefined ? await this.#tryAcquire() : await this.#renew(this.#held);
      if (!this.#isOver && sleepMs > 0) await this.#sleep(sleepMs);
    }
  }

  async #sleep(ms: number): Promise<void> {
    const early = new AbortController();
    this.#wake = () => early.abort();
    await wait(ms, AbortSignal.any([early.signal, this.#stop.signal]));
    this.#wake = () => {};
  }

  /** One iteration of a standby: acquires a lease that is released or expired. Returns how long to sleep. */
  async #tryAcquire(): Promise<number> {
    if (!this.#synced) return longestSleepMs;
    const now = this.#clock.now();
    const { lease, expiresAt = Number.NEGATIVE_INFINITY } = this.#observed ?? {};
    // An earlier attempt of this process may have succeeded although its response was lost.
    const isOwn = lease?.spec?.holderIdentity === this.holder;
    if (expiresAt > now && !isOwn) return Math.min(expiresAt - now, longestSleepMs);
    try {
      this.#recordLease(await this.#acquire(), now);
      return this.#times.retryMs;
    } catch (error) {
      return this.#pauseAfter(error);
    }
  }

  #acquire(): Promise<Stored<Lease>> {
    const { client, name } = this.#options;
    const claim = { holder: this.holder, leaseMs: this.#times.leaseMs, at: this.#clock.date() };
    const lease = this.#observed?.lease;
    return this.#withTimeout(attemptMs, () =>
      lease === undefined
        ? client.create<Lease>(builtinKinds.lease, newLease(name, claim))
        : client.patch<Lease>(builtinKinds.lease, name, acquireOperations(lease, claim)),
    );
  }

  /**
   * How long to sleep after a failed attempt: not at all if the lease changed and the watch has not delivered the
   * change yet.
   */
  async #pauseAfter(error: unknown): Promise<number> {
    const { logger, client, name, random = Math.random } = this.#options;
    const pauseMs = this.#times.retryMs * (1 + jitter * random());
    if (!isRaced(error)) {
      logger.warn('lease_not_acquired', { code: isKubeError(error) ? error.code : 'unexpected' });
      return pauseMs;
    }
    try {
      const tried = this.#observed?.lease?.metadata.resourceVersion;
      const live = await this.#withTimeout(attemptMs, () => client.get<Lease>(builtinKinds.lease, name));
      this.#observe(live);
      return live?.metadata.resourceVersion === tried ? pauseMs : 0;
    } catch {
      return pauseMs;
    }
  }

  #recordLease(lease: Stored<Lease>, sentAt: number): void {
    const isNew = this.#held === undefined;
    const passedMs = this.#clock.now() - sentAt;
    this.#held = lease;
    this.#renewed = { at: sentAt, date: this.#clock.date().getTime() - passedMs };
    if (!isNew || this.#isOver) return;
    this.#options.logger.info('leading', { lease: this.#options.name, transitions: lease.spec.leaseTransitions ?? 0 });
    this.#options.meter?.leading(true);
    this.#elected.resolve();
    // The next renewal of a leader fails when the lease was changed, so that it needs no watch.
    void this.#standby[Symbol.asyncDispose]();
  }

  /** Renews the lease once. Returns how long to sleep. */
  async #renew(held: Stored<Lease>): Promise<number> {
    const { client, name } = this.#options;
    const now = this.#clock.now();
    const leftMs = this.#times.renewDeadlineMs - (now - this.#renewed.at);
    if (leftMs <= 0) return this.#lose('not_renewed');
    try {
      const operations = renewOperations(held, this.#clock.date());
      const limitMs = Math.min(attemptMs, leftMs);
      const renew = (): Promise<Stored<Lease>> => client.patch<Lease>(builtinKinds.lease, name, operations);
      this.#recordLease(await this.#withTimeout(limitMs, renew), now);
      return this.#times.retryMs;
    } catch (error) {
      if (isRaced(error)) return this.#renewLive();
      this.#options.logger.warn('lease_not_renewed', { code: isKubeError(error) ? error.code : 'unexpected' });
      const stillMs = this.#times.renewDeadlineMs - (this.#clock.now() - this.#renewed.at);
      return Math.max(1, Math.min(this.#times.retryMs, stillMs));
    }
  }

  /**
   * The lease was written by a user, by an earlier attempt of this process or by a new leader: the live lease decides.
   */
  async #renewLive(): Promise<number> {
    const { client, name, meter } = this.#options;
    meter?.slowPath();
    try {
      const live = await this.#withTimeout(attemptMs, () => client.get<Lease>(builtinKinds.lease, name));
      if (live !== undefined && live.spec?.holderIdentity !== this.holder) return this.#lose('taken');
      const now = this.#clock.now();
      const at = this.#clock.date();
      const claim = { holder: this.holder, leaseMs: this.#times.leaseMs, at };
      const write = (): Promise<Stored<Lease>> =>
        live === undefined
          ? client.create<Lease>(builtinKinds.lease, newLease(name, claim))
          : client.patch<Lease>(builtinKinds.lease, name, renewOperations(live, at));
      this.#recordLease(await this.#withTimeout(attemptMs, write), now);
    } catch {
      // The next renewal tries again, until the renew deadline.
    }
    return this.#times.retryMs;
  }

  #lose(reason: LossReason): number {
    this.#isOver = true;
    this.#held = undefined;
    this.#options.logger.warn('leadership_lost', { lease: this.#options.name, reason });
    this.#options.meter?.leading(false);
    this.#lost.resolve(reason);
    return 0;
  }

  async #release(): Promise<void> {
    const held = this.#held;
    if (held === undefined) return;
    this.#held = undefined;
    this.#options.meter?.leading(false);
    const { client, name, logger } = this.#options;
    try {
      const operations = releaseOperations(held, this.#clock.date());
      await this.#withTimeout(releaseMs, () => client.patch<Lease>(builtinKinds.lease, name, operations));
      logger.info('lease_released', { lease: name });
    } catch (error) {
      logger.warn('lease_not_released', { code: isKubeError(error) ? error.code : 'unexpected' });
    }
  }

  /** A write that timed out may still arrive; its precondition keeps it harmless. */
  async #withTimeout<T>(ms: number, attempt: () => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timeout = wait(ms, late.signal).then((): never => {
      throw new KubeError('network', `no complete response within ${ms} ms`);
    });
    try {
      return await Promise.race([attempt(), timeout]);
    } finally {
      timeout.catch(() => {});
      late.abort();
    }
  }
}

function isRaced(error: unknown): boolean {
  return isKubeError(error, 'already_exists', 'conflict', 'precondition_failed', 'not_found');
}
