import { describeFailure } from '#kit/log/describe-failure';
import type { CommandPorts } from './execute-command.ts';
import { recoverOperations } from './recover-operations.ts';

/** Interval at which expired idempotency keys and operations are deleted, milliseconds. */
const pruneMs = 3_600_000;

/** Recovers abandoned commands at a fixed interval; after a full batch the next one starts at once. */
export function startRecovery(ports: CommandPorts, options: { readonly everyMs: number }): AsyncDisposable {
  const { logger, store, clock } = ports;
  let stopped = false;
  let endPause: () => void = () => undefined;
  let prunedAt = Number.NEGATIVE_INFINITY;

  async function round(): Promise<number> {
    try {
      if (clock.now() - prunedAt >= pruneMs) {
        await store.prune();
        prunedAt = clock.now();
      }
      return await recoverOperations(ports);
    } catch (error) {
      logger.warn('recovery_failed', { failure: describeFailure(error) });
      return 0;
    }
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, options.everyMs);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const claimed = await round();
      if (!stopped && claimed === 0) await pause();
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      endPause();
      await running;
    },
  };
}
