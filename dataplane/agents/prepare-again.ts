import { wait } from '#kit/time/wait';
import type { PreparedAgent } from './prepare-agent.ts';

/** Pause before a version that is not served is prepared once more, which doubles up to the longest, milliseconds. */
const usualPauses: PreparePauses = { firstMs: 10_000, longestMs: 300_000 };
export type PreparePauses = { readonly firstMs: number; readonly longestMs: number };

type AgainOptions = {
  readonly first: PreparedAgent;
  readonly prepare: () => Promise<PreparedAgent>;
  /** Receives each result, and owns it from then on. */
  readonly onPrepared: (next: PreparedAgent) => void;
  /**
   * Receives the reason why a version could not be prepared, for example because the file of a secret is missing. The
   * preparation is repeated later.
   */
  readonly onFailed: (error: unknown) => void;
  readonly pauses?: PreparePauses | undefined;
};

/**
 * Prepares a version again while its problems are temporary: a policy that is not served yet, or a check at the start
 * that failed. A version that was served once is not prepared again, and neither is a version with a permanent problem.
 * Disposing ends the repetition.
 */
export function prepareAgain({
  first,
  prepare,
  onPrepared,
  onFailed,
  pauses = usualPauses,
}: AgainOptions): AsyncDisposable {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    let current = first;
    for (let pause = pauses.firstMs; current.mayPass; pause = Math.min(pauses.longestMs, 2 * pause)) {
      await wait(pause, signal);
      if (signal.aborted) return;
      try {
        current = await prepare();
      } catch (error) {
        onFailed(error);
        continue;
      }
      onPrepared(current);
    }
  }

  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
