import { describeFailure } from '#kit/log/describe-failure';
import type { CommandPorts } from './execute-command.ts';
import { recoverOperations } from './recover-operations.ts';

/** How often what is older than it is kept is removed. */
const pruneMs = 3_600_000;

/** Carries on commands that nobody carries on, at a steady pace, on every replica. */
export function startRecovery(ports: CommandPorts, options: { readonly everyMs: number }): AsyncDisposable {
  const { logger, store, clock } = ports;
  let stopped = false;
  let wake: () => void = () => undefined;
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
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const looked = await round();
      if (!stopped && looked === 0) await pause();
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopped = true;
      wake();
      await running;
    },
  };
}
