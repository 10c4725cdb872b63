import { describeFailure } from '#kit/log/describe-failure';
import type { Logger } from '#kit/log/logger';
import { wait } from '#kit/time/wait';
import type { RecordedChanges } from '#relations/changes/recorded-changes';

/** Settles changes of rights that were left, again and again, beside every other loop: the store of rights can be slow. */
export function startSettlingRights(
  changes: Pick<RecordedChanges, 'settleLeft'>,
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
