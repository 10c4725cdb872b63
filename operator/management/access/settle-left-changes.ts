import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';

/** Changes outside of the database that were left without an audit entry. */
type LeftChanges = { settleLeft(): Promise<void> };

/** Settles interrupted changes periodically, in a separate loop, because the store that they change can be slow. */
export function startSettlingLeft(
  changes: LeftChanges,
  { everyMs, logger }: { readonly everyMs: number; readonly logger: Pick<Logger, 'warn'> },
): AsyncDisposable {
  const stop = new AbortController();

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        await changes.settleLeft();
      } catch (error) {
        logger.warn('settling_failed', { failure: describeFailure(error) });
      }
      await wait(everyMs, stop.signal);
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
