import { wait } from '#kit/time/wait';

type WorkLoopOptions = {
  /** Steps at a time; 1 when absent. */
  readonly concurrency?: number;
  /** Interval at which the loop checks for work without a call of `wake`, milliseconds. */
  readonly pollMs: number;
};

export type WorkLoop = AsyncDisposable & {
  /** Notifies the loop of possible work: the next step begins immediately. */
  wake(): void;
};

/**
 * Repeats a step: immediately after a step that did work, otherwise after `wake` or the poll interval, so that a missed
 * call of `wake` only delays work. Disposing aborts the signal of the steps and waits for them.
 * @param step returns whether it did work; it must not throw
 */
export function startWorkLoop(
  step: (signal: AbortSignal) => Promise<boolean>,
  { concurrency = 1, pollMs }: WorkLoopOptions,
): WorkLoop {
  const stop = new AbortController();
  let pause = new AbortController();

  function wake(): void {
    const ended = pause;
    pause = new AbortController();
    ended.abort();
  }

  async function run(): Promise<void> {
    while (!stop.signal.aborted) {
      // The signal is taken before the step, so that a call of `wake` during the step ends the pause after the step.
      const { signal } = pause;
      if (!(await step(stop.signal)) && !stop.signal.aborted) await wait(pollMs, signal);
    }
  }

  const running = Promise.all(Array.from({ length: concurrency }, run));
  return {
    wake,
    async [Symbol.asyncDispose]() {
      stop.abort();
      wake();
      await running;
    },
  };
}
