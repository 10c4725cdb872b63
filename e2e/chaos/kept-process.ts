import { type ProcessOptions, type RunningProcess, startProcess } from '../support/start-process.ts';

/** A process that is restarted when it ends, like a container of a Deployment. */
export type KeptProcess = AsyncDisposable & {
  /** The current process; undefined while it is being restarted. */
  readonly now: () => RunningProcess | undefined;
  /** Last log lines of processes that exited unexpectedly without an explanation. */
  readonly surprises: readonly string[];
  readonly starts: () => number;
  /** Ends the current process, which is then restarted. */
  kill(): void;
  signal(signal: NodeJS.Signals): void;
};

const restartMs = 1_000;
/** Log text of an expected exit. */
const explained = /leadership was lost/;

export function keepProcess(options: ProcessOptions): KeptProcess {
  const surprises: string[] = [];
  let current: RunningProcess | undefined;
  let starts = 0;
  let isOver = false;
  let killed = false;

  async function run(): Promise<void> {
    while (!isOver) {
      try {
        current = await startProcess(options);
        starts += 1;
        killed = false;
        await current.closed;
        const words = current.log();
        if (!killed && !isOver && !explained.test(words)) surprises.push(words.slice(-1_000));
        if (/unexpected failure/.test(words) && !explained.test(words)) surprises.push(words.slice(-1_000));
      } catch (error) {
        surprises.push(String(error));
      }
      current = undefined;
      if (!isOver) await new Promise((resolve) => setTimeout(resolve, restartMs));
    }
  }

  const running = run();
  return {
    now: () => current,
    surprises,
    starts: () => starts,
    kill() {
      killed = true;
      current?.signal('SIGKILL');
    },
    signal: (signal) => current?.signal(signal),
    async [Symbol.asyncDispose]() {
      isOver = true;
      await current?.end('SIGTERM');
      await running;
    },
  };
}
