import { childEnvironment } from './config.ts';
import { type ChildOptions, startChild } from './start-child.ts';

type RunOptions = Pick<ChildOptions, 'cwd'> & {
  /** Standard input of the child process; empty when absent. */
  readonly input?: string | undefined;
  /** Environment of the child; when absent, only the variables of this process that Node needs. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  /** No timeout when absent. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Receives its standard error as it arrives. */
  readonly onStderr?: (text: string) => void;
  /** Bounds each of its two outputs; 4 MiB when absent. */
  readonly maxOutputBytes?: number;
};

export type RunEnd = {
  /** Its exit code; null if a signal ended it, also that of this process after a timeout or too large an output. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
};

/** Runs a TypeScript file on this Node to its end. @throws like `runProcess` */
export function runChild(file: string, options: RunOptions): Promise<RunEnd> {
  return runProcess([process.execPath, file], options);
}

/**
 * Runs a program to its end, and kills it after the timeout, when an output is too large or when the signal is aborted.
 * @throws the reason of the signal; the error of the system if the program cannot be started
 */
export async function runProcess(command: readonly string[], options: RunOptions = {}): Promise<RunEnd> {
  options.signal?.throwIfAborted();
  return await startRun(command, options).finish(options);
}

/** A program that was started and waits for its standard input. */
export type StartedRun = {
  hasEnded(): boolean;
  /**
   * Gives the input and waits for the end, like `runProcess`. It is called once; the timeout begins here.
   * @throws like `runProcess`
   */
  finish(options: Pick<RunOptions, 'input' | 'timeoutMs' | 'signal'>): Promise<RunEnd>;
  /** Kills it; resolves when it has exited. */
  kill(): Promise<void>;
};

/** Starts a program before its input is known. Its input ends with this process, however that ends. */
export function startRun(
  command: readonly string[],
  options: Pick<RunOptions, 'env' | 'cwd' | 'onStderr' | 'maxOutputBytes'> = {},
): StartedRun {
  const { env = childEnvironment(), cwd, onStderr, maxOutputBytes = 4 * 1024 * 1024 } = options;
  const stdout = collector(maxOutputBytes, kill);
  const stderr = collector(maxOutputBytes, kill);
  const child = startChild(command, {
    env,
    cwd,
    stdin: 'open',
    stdout: stdout.add,
    stderr(text) {
      stderr.add(text);
      onStderr?.(text);
    },
  });
  function kill(): void {
    child.signal('SIGKILL');
  }
  return {
    hasEnded: child.hasEnded,
    async finish({ input = '', timeoutMs, signal }) {
      let timedOut = false;
      function onTimeout(): void {
        timedOut = true;
        kill();
      }
      const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
      signal?.addEventListener('abort', kill, { once: true });
      child.giveInput(input);
      const end = await child.closed;
      clearTimeout(timer);
      signal?.removeEventListener('abort', kill);
      signal?.throwIfAborted();
      if (end.kind === 'not_started') throw end.error;
      return { code: end.kind === 'exited' ? end.code : null, stdout: stdout.text(), stderr: stderr.text(), timedOut };
    },
    async kill() {
      kill();
      await child.ended;
    },
  };
}

function collector(limit: number, onOver: () => void) {
  const pieces: string[] = [];
  let size = 0;
  return {
    add(text: string): void {
      size += Buffer.byteLength(text);
      if (size > limit) onOver();
      else pieces.push(text);
    },
    text: () => pieces.join(''),
  };
}
