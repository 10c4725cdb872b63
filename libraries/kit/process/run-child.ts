import { childEnvironment } from './config.ts';
import { type ChildOptions, startChild } from './start-child.ts';

type RunOptions = Pick<ChildOptions, 'cwd'> & {
  /** Standard input of the child process; empty when absent. */
  readonly input?: string | undefined;
  /** Environment of the child; when absent, only the variables of this process that Node needs. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
  /** Timeout in milliseconds; no timeout when absent. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Receives the standard error of the program as it arrives. */
  readonly onStderr?: (text: string) => void;
  /** Maximum size of each of its two outputs; 4 MiB when absent. */
  readonly maxOutputBytes?: number;
};

export type RunEnd = {
  /**
   * The exit code of the program; null if a signal ended it, including the signal of this process after a timeout or
   * too large an output.
   */
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
 * Runs a program to its end, and kills it after the timeout, when an output is too large, or when the signal is
 * aborted.
 * @throws the reason of the signal; the error of the system if the program cannot be started
 */
export async function runProcess(command: readonly string[], options: RunOptions = {}): Promise<RunEnd> {
  const { env = childEnvironment(), cwd, input = '', timeoutMs, signal, onStderr } = options;
  signal?.throwIfAborted();
  const { maxOutputBytes = 4 * 1024 * 1024 } = options;
  const stdout = collector(maxOutputBytes, kill);
  const stderr = collector(maxOutputBytes, kill);
  const child = startChild(command, {
    env,
    cwd,
    stdin: { text: input },
    stdout: stdout.add,
    stderr(text) {
      stderr.add(text);
      onStderr?.(text);
    },
  });
  function kill(): void {
    child.signal('SIGKILL');
  }
  let timedOut = false;
  function onTimeout(): void {
    timedOut = true;
    kill();
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
  signal?.addEventListener('abort', kill, { once: true });
  const end = await child.closed;
  clearTimeout(timer);
  signal?.removeEventListener('abort', kill);
  signal?.throwIfAborted();
  if (end.kind === 'not_started') throw end.error;
  return { code: end.kind === 'exited' ? end.code : null, stdout: stdout.text(), stderr: stderr.text(), timedOut };
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
