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
  /** Name of the lease; candidates of one name compete. */
  readonly name: string;
  /** Name of this candidate, for people. A part that is new in each process is added to it. */
  readonly identity: string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock?: Clock;
  /** How long a lease holds that nobody renews; whole seconds in milliseconds, 15,000 when absent. */
  readonly leaseMs?: number;
  /** How long after its last renewal a leader still writes; 10,000 when absent. */
  readonly renewDeadlineMs?: number;
  /** Between two renewals, and after a failed try; 2,000 when absent. */
  readonly retryMs?: number;
  /** Between 0 and 1. */
  readonly random?: () => number;
  readonly meter?: ElectionMeter;
};

/** What an election counts. */
export type ElectionMeter = {
  leading(isLeader: boolean): void;
  /** A renewal had to read the lease first. */
  slowPath(): void;
};

export type LeaderElection = AsyncDisposable & {
  /** What stands in the lease while this process leads. */
  readonly holder: string;
  /** Resolves when this process leads for the first time; never when it is disposed of before. */
  readonly elected: Promise<void>;
  /** Resolves when leadership is over, and it does not come back: the process has to end. */
  readonly lost: Promise<LossReason>;
  /** Whether a write that is sent now is surely sent by the leader. */
  writesAllowed(): boolean;
  /** Milliseconds since the loop last ran: a process where this grows beyond `deadAfterMs` is to be restarted. */
  silenceMs(): number;
  /** How long the loop may be silent: as long as a lease and a tolerance. */
  readonly deadAfterMs: number;
};

/** Waits after failed tries are up to this many times longer, so that candidates do not try together. */
const jitter = 1.2;
/** One try of the server; a leader has several within its deadline. */
const attemptMs = 5_000;
/** A standby looks at its clock at least this often, which is what `silenceMs` measures. */
const longestSleepMs = 5_000;
const silenceToleranceMs = 20_000;
const releaseMs = 2_000;

/**
 * Takes part in the election of a leader by a Lease (coordination.k8s.io/v1), in the way of client-go: who holds the
 * lease renews it, and whoever sees it unchanged for its duration takes it. A candidate measures on its own monotonic
 * clock from the moment at which it saw a change, so clocks may differ. A standby watches the lease and tries at the
 * moment at which it expires, or is released. Disposing releases a lease that is held: dispose of writers first.
 * @throws RangeError where the times do not leave a margin between the last write of a leader and its successor
 */
export function startLeaderElection(options: LeaderElectionOptions): LeaderElection {
  const { leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = options;
  if (!(leaseMs > renewDeadlineMs && renewDeadlineMs > retryMs * jitter)) {
    throw new RangeError('a lease is longer than its renew deadline, which is longer than 1.2 times the retry period');
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
  #seen: ObservedLease | undefined;
  #synced = false;
  /** The lease as this process last wrote it; undefined while it does not lead. */
  #held: Stored<Lease> | undefined;
  /** When the last successful renewal was sent, on both clocks. */
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

  /** The monotonic clock stands still while a machine sleeps, and the time of day may be set: the longer one counts. */
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
      onChange: (_name, current) => this.#look(current),
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

  #look(lease: Stored<Lease> | undefined): void {
    if (this.#held !== undefined) return;
    this.#seen = observe(this.#seen, lease, this.#clock.now(), this.#times.leaseMs);
    this.#wake();
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      this.#ranAt = this.#clock.now();
      const sleepMs = this.#held === undefined ? await this.#stand() : await this.#renew(this.#held);
      if (!this.#isOver && sleepMs > 0) await this.#sleep(sleepMs);
    }
  }

  async #sleep(ms: number): Promise<void> {
    const early = new AbortController();
    this.#wake = () => early.abort();
    await wait(ms, AbortSignal.any([early.signal, this.#stop.signal]));
    this.#wake = () => {};
  }

  /** One look as a standby: tries where nobody holds the lease, and says how long to sleep. */
  async #stand(): Promise<number> {
    if (!this.#synced) return longestSleepMs;
    const now = this.#clock.now();
    const { lease, expiresAt = Number.NEGATIVE_INFINITY } = this.#seen ?? {};
    // An earlier try of ours may have arrived although its answer did not.
    const isOurs = lease?.spec?.holderIdentity === this.holder;
    if (expiresAt > now && !isOurs) return Math.min(expiresAt - now, longestSleepMs);
    try {
      this.#hold(await this.#acquire(), now);
      return this.#times.retryMs;
    } catch (error) {
      return this.#missed(error);
    }
  }

  #acquire(): Promise<Stored<Lease>> {
    const { client, name } = this.#options;
    const claim = { holder: this.holder, leaseMs: this.#times.leaseMs, at: this.#clock.date() };
    const lease = this.#seen?.lease;
    return this.#within(attemptMs, () =>
      lease === undefined
        ? client.create<Lease>(builtinKinds.lease, newLease(name, claim))
        : client.patch<Lease>(builtinKinds.lease, name, acquireOperations(lease, claim)),
    );
  }

  /** Somebody was faster, or the watch is behind, or nobody answered. */
  async #missed(error: unknown): Promise<number> {
    const { logger, client, name, random = Math.random } = this.#options;
    const pauseMs = this.#times.retryMs * (1 + jitter * random());
    if (!isRaced(error)) {
      logger.warn('lease_not_acquired', { code: isKubeError(error) ? error.code : 'unexpected' });
      return pauseMs;
    }
    try {
      const tried = this.#seen?.lease?.metadata.resourceVersion;
      const live = await this.#within(attemptMs, () => client.get<Lease>(builtinKinds.lease, name));
      this.#look(live);
      return live?.metadata.resourceVersion === tried ? pauseMs : 0;
    } catch {
      return pauseMs;
    }
  }

  #hold(lease: Stored<Lease>, sentAt: number): void {
    const isNew = this.#held === undefined;
    const passedMs = this.#clock.now() - sentAt;
    this.#held = lease;
    this.#renewed = { at: sentAt, date: this.#clock.date().getTime() - passedMs };
    if (!isNew || this.#isOver) return;
    this.#options.logger.info('leading', { lease: this.#options.name, transitions: lease.spec.leaseTransitions ?? 0 });
    this.#options.meter?.leading(true);
    this.#elected.resolve();
    // A leader learns of a change by its next renewal; it needs no watch.
    void this.#standby[Symbol.asyncDispose]();
  }

  /** One renewal as the leader, and how long to sleep until the next. */
  async #renew(held: Stored<Lease>): Promise<number> {
    const { client, name } = this.#options;
    const now = this.#clock.now();
    const leftMs = this.#times.renewDeadlineMs - (now - this.#renewed.at);
    if (leftMs <= 0) return this.#lose('not_renewed');
    try {
      const operations = renewOperations(held, this.#clock.date());
      const limitMs = Math.min(attemptMs, leftMs);
      this.#hold(await this.#within(limitMs, () => client.patch<Lease>(builtinKinds.lease, name, operations)), now);
      return this.#times.retryMs;
    } catch (error) {
      if (isRaced(error)) return this.#checkHeld();
      this.#options.logger.warn('lease_not_renewed', { code: isKubeError(error) ? error.code : 'unexpected' });
      const stillMs = this.#times.renewDeadlineMs - (this.#clock.now() - this.#renewed.at);
      return Math.max(1, Math.min(this.#times.retryMs, stillMs));
    }
  }

  /** Somebody wrote the lease: a person, an earlier try of ours, or a new leader. */
  async #checkHeld(): Promise<number> {
    const { client, name, meter } = this.#options;
    meter?.slowPath();
    try {
      const live = await this.#within(attemptMs, () => client.get<Lease>(builtinKinds.lease, name));
      if (live?.spec?.holderIdentity === this.holder) return await this.#renewSlowly(live);
      if (live !== undefined) return this.#lose('taken');
      const now = this.#clock.now();
      const claim = { holder: this.holder, leaseMs: this.#times.leaseMs, at: this.#clock.date() };
      const create = (): Promise<Stored<Lease>> => client.create<Lease>(builtinKinds.lease, newLease(name, claim));
      this.#hold(await this.#within(attemptMs, create), now);
    } catch {
      // Looked at once more with the next renewal, as long as the deadline allows.
    }
    return this.#times.retryMs;
  }

  async #renewSlowly(live: Stored<Lease>): Promise<number> {
    const { client, name } = this.#options;
    const now = this.#clock.now();
    const operations = renewOperations(live, this.#clock.date());
    this.#hold(await this.#within(attemptMs, () => client.patch<Lease>(builtinKinds.lease, name, operations)), now);
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
      await this.#within(releaseMs, () => client.patch<Lease>(builtinKinds.lease, name, operations));
      logger.info('lease_released', { lease: name });
    } catch (error) {
      logger.warn('lease_not_released', { code: isKubeError(error) ? error.code : 'unexpected' });
    }
  }

  /** A try that is given up may still arrive: its precondition keeps it harmless. */
  async #within<T>(ms: number, attempt: () => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timeout = wait(ms, late.signal).then((): never => {
      throw new KubeError('network', `no whole answer within ${ms} ms`);
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
