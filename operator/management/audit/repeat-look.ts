import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import type { Clock } from '#kit/time/clock';
import { wait } from '#kit/time/wait';

/**
 * Interval at which the watched resources are observed, milliseconds. While nothing has changed, no request is sent.
 */
const everyMs = 1_000;

/** Counts the changes that are kept from the audit log. */
export type ObservingFaults = {
  /**
   * Called when an observation of the resources ended early; the observation is repeated. @param seconds time since the
   * end of the previous observation
   */
  lookFailed(seconds: number): void;
  /** A change has no valid form and gets no entry. */
  changeNotRecorded(): void;
};

/** Observes the watched resources periodically, once they are complete. A failed observation is repeated. */
export function repeatLook(
  look: (signal: AbortSignal) => Promise<void>,
  {
    synced,
    clock,
    logger,
    faults,
  }: {
    readonly synced: Promise<void>;
    readonly clock: Pick<Clock, 'now'>;
    readonly logger: Pick<Logger, 'warn'>;
    readonly faults: Pick<ObservingFaults, 'lookFailed'>;
  },
): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

  async function run(): Promise<void> {
    await Promise.race([synced, stopped]);
    let endedAt = clock.now();
    while (!signal.aborted) {
      const before = endedAt;
      try {
        await look(signal);
        endedAt = clock.now();
      } catch (error) {
        endedAt = clock.now();
        faults.lookFailed((endedAt - before) / 1_000);
        logger.warn('observing_failed', { failure: describeFailure(error) });
      }
      if (!signal.aborted) await wait(everyMs, signal);
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}
