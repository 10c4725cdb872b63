import { type ChildProcess, spawn } from 'node:child_process';

/** How a child process ended: with an exit code, by a signal, or because it could not be started. */
export type ChildEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'not_started'; readonly error: Error };

/**
 * The target of an output stream: none, the same stream of this process, an open file, or a function that receives it
 * in pieces.
 */
type Output = 'ignore' | 'inherit' | number | ((text: string) => void);

export type ChildOptions = {
  /** All environment variables of the child; those of this process are not inherited. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd?: string | undefined;
  /** The user and group as which the child runs; those of this process when absent. */
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
  /**
   * Whether the child has its own process group, so that Ctrl-C in a terminal does not reach it before this process.
   */
  readonly ownGroup?: boolean;
  /**
   * The complete standard input of the child, or `open`: a pipe that ends with this process, however this process ends.
   * Empty when absent.
   */
  readonly stdin?: 'open' | { readonly text: string };
  /** `ignore` when absent, like `stderr`. */
  readonly stdout?: Output;
  readonly stderr?: Output;
};

type StopOptions = {
  /** The signal that requests the shutdown; SIGTERM when absent. */
  readonly signal?: NodeJS.Signals;
  readonly graceMs: number;
  /** The signal after the grace period; SIGKILL when absent. */
  readonly last?: NodeJS.Signals;
};

export type Child = {
  /** The process id; undefined if the child could not be started. */
  readonly pid: number | undefined;
  /** Resolves when the child has exited. */
  readonly ended: Promise<ChildEnd>;
  /** Resolves when the child has exited and its outputs have been received. */
  readonly closed: Promise<ChildEnd>;
  hasEnded(): boolean;
  /** Writes to an open standard input, which stays open; does nothing after the child has exited. */
  write(text: string): void;
  /** Sends a signal to the child; does nothing after the child has exited. */
  signal(name: NodeJS.Signals): void;
  stop(options: StopOptions): Promise<ChildEnd>;
};

/**
 * Starts a program. If the program is missing or cannot be executed, the end is `not_started`.
 * @throws any other error of the system
 */
export function startChild([program = '', ...args]: readonly string[], options: ChildOptions): Child {
  const { env, cwd, account, ownGroup = false, stdin, stdout = 'ignore', stderr = 'ignore' } = options;
  const child = spawn(program, args, {
    env,
    cwd,
    detached: ownGroup,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', stdioOf(stdout), stdioOf(stderr)],
    ...account,
  });
  let hasEnded = false;
  const ended = endOf(child, 'exit');
  void ended.then(() => {
    hasEnded = true;
  });
  // A child that exits without reading its input breaks the pipe; its exit code shows the cause.
  child.stdin?.on('error', () => undefined);
  if (stdin !== undefined && stdin !== 'open') child.stdin?.end(stdin.text);
  if (typeof stdout === 'function') child.stdout?.setEncoding('utf8').on('data', stdout);
  if (typeof stderr === 'function') child.stderr?.setEncoding('utf8').on('data', stderr);
  return {
    pid: child.pid,
    ended,
    closed: endOf(child, 'close'),
    hasEnded: () => hasEnded,
    write: (text) => void child.stdin?.write(text),
    signal: (name) => void child.kill(name),
    async stop({ signal = 'SIGTERM', graceMs, last = 'SIGKILL' }) {
      child.kill(signal);
      const timer = setTimeout(() => child.kill(last), graceMs);
      const end = await ended;
      clearTimeout(timer);
      return end;
    },
  };
}

function stdioOf(output: Output): 'ignore' | 'inherit' | 'pipe' | number {
  return typeof output === 'function' ? 'pipe' : output;
}

function endOf(child: ChildProcess, event: 'exit' | 'close'): Promise<ChildEnd> {
  return new Promise((resolve) => {
    // Failing to send a signal is an error, too: the process still runs.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve({ kind: 'not_started', error });
    });
    child.once(event, (code: number | null, signal: NodeJS.Signals | null) =>
      resolve(signal === null ? { kind: 'exited', code: code ?? 1 } : { kind: 'killed', signal }),
    );
  });
}

/** The end in words that follow the name of the process. */
export function describeEnd(end: ChildEnd): string {
  switch (end.kind) {
    case 'exited':
      return `ended with exit code ${end.code}`;
    case 'killed':
      return `was ended by ${end.signal}`;
    case 'not_started':
      return `could not be started (${'code' in end.error ? end.error.code : end.error.name})`;
  }
}

/** Divides an output into its lines. */
export function byLine(receive: (line: string) => void): (text: string) => void {
  let pieces: string[] = [];
  return (text) => {
    const [first = '', ...further] = text.split('\n');
    pieces.push(first);
    for (const piece of further) {
      const line = pieces.join('');
      pieces = [piece];
      receive(line);
    }
  };
}
