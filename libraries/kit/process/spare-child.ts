import { type RunEnd, type StartedRun, startRun } from './run-child.ts';

type SpareOptions = {
  /** The TypeScript file; it reads its whole standard input before it does anything else. */
  readonly file: string;
  /** How long a spare process waits for an input before it is ended, milliseconds. */
  readonly idleMs: number;
  /** Bounds each of the two outputs of a process. */
  readonly maxOutputBytes: number;
};

/** Runs one file once for each input. Disposing kills every process of it that has not ended, and starts none after that. */
export type SpareChild = AsyncDisposable & {
  /**
   * Runs the file in a process that receives no other input: the spare process, or a new one if none waits.
   * @throws the error of the system if the process cannot be started
   */
  run(options: { readonly input: string; readonly timeoutMs: number }): Promise<RunEnd>;
};

/**
 * When a run ends, a spare process starts and waits for the input of the next run, so that only the first run of a series
 * waits for a start. A spare process that receives no input within the idle time is killed. It takes the place of the run
 * that ended: a caller that allows N concurrent runs never has more than N processes.
 */
export function createSpareChild({ file, idleMs, maxOutputBytes }: SpareOptions): SpareChild {
  const alive = new Set<StartedRun>();
  let spare: StartedRun | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isOpen = true;

  function start(): StartedRun {
    const started = startRun([process.execPath, file], { maxOutputBytes });
    alive.add(started);
    return started;
  }

  function takeSpare(): StartedRun | undefined {
    const taken = spare;
    clearTimeout(idle);
    spare = undefined;
    if (taken?.hasEnded() !== true) return taken;
    alive.delete(taken);
    return undefined;
  }

  function prepare(): void {
    if (!isOpen || spare?.hasEnded() === false) return;
    takeSpare();
    try {
      spare = start();
    } catch {
      // The next run starts its own process, and throws if that fails.
      return;
    }
    idle = setTimeout(() => void end(takeSpare()), idleMs).unref();
  }

  async function end(started: StartedRun | undefined): Promise<void> {
    await started?.kill();
    if (started !== undefined) alive.delete(started);
  }

  return {
    async run(options) {
      const started = takeSpare() ?? start();
      try {
        const ended = await started.finish(options);
        prepare();
        return ended;
      } finally {
        alive.delete(started);
      }
    },
    async [Symbol.asyncDispose]() {
      isOpen = false;
      clearTimeout(idle);
      await Promise.all([...alive].map(end));
    },
  };
}
