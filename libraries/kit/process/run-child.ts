import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { childEnvironment } from './config.ts';

type ChildOptions = {
  /** Written to its standard input, which then ends. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Bounds each of its two outputs; 4 MiB where not given. */
  readonly maxOutputBytes?: number;
};

type ChildEnd = {
  /** Its exit code; null where a signal ended it, ours after too long a time or too large an output included. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it was ended because its time was over. */
  readonly timedOut: boolean;
};

/**
 * Runs a TypeScript file on this Node to its end. The child has none of this process's environment but what Node
 * needs, and is killed when the time is over, an output is too large or the signal is aborted.
 * @throws the reason of the signal; the error of the system where no process can be started
 */
export async function runChild(file: string, options: ChildOptions): Promise<ChildEnd> {
  const { input, timeoutMs, signal, maxOutputBytes = 4 * 1024 * 1024 } = options;
  signal.throwIfAborted();
  const child = spawn(process.execPath, [file], { env: childEnvironment(), stdio: 'pipe' });
  const kill = (): void => void child.kill('SIGKILL');
  const closed = once(child, 'close');
  const stdout = collect(child.stdout, maxOutputBytes, kill);
  const stderr = collect(child.stderr, maxOutputBytes, kill);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeoutMs);
  signal.addEventListener('abort', kill, { once: true });
  // A child that ends without reading its input breaks the pipe; its exit code tells the rest.
  child.stdin.on('error', () => undefined).end(input);
  try {
    const [code] = await closed;
    signal.throwIfAborted();
    return { code, stdout: stdout(), stderr: stderr(), timedOut };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  }
}

function collect(stream: ChildProcessWithoutNullStreams['stdout'], limit: number, onOver: () => void): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) onOver();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString();
}
