import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';

/** Interval of looking at the watched resources, milliseconds. Nothing is sent while nothing changed. */
const everyMs = 1_000;

/** Looks at the watched resources again and again, from when they are complete. A failed look is repeated. */
export function repeatLook(
  look: (signal: AbortSignal) => Promise<void>,
  { synced, logger }: { readonly synced: Promise<void>; readonly logger: Pick<Logger, 'warn'> },
): AsyncDisposable {
  const stop = new AbortController();
  const { signal } = stop;
  const stopped = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

  async function run(): Promise<void> {
    await Promise.race([synced, stopped]);
    while (!signal.aborted) {
      try {
        await look(signal);
      } catch (error) {
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
