import { childEnvironment } from './config.ts';
import { byLine, type Child, type ChildEnd, startChild } from './start-child.ts';

type KeptOptions = {
  /** The TypeScript file: it reads lines, and answers each line with one line before it reads the next. */
  readonly file: string;
  /** Options of Node, for example a limit on the heap. None when absent. */
  readonly nodeOptions?: readonly string[];
  /** How long a process waits for a line before it is ended, milliseconds. */
  readonly idleMs: number;
  /** Number of lines that one process answers; after that another process replaces it. */
  readonly mostAnswers: number;
  /** Maximum number of characters of an answer. A process that writes more without a line feed is killed. */
  readonly maxAnswerLength: number;
};

type KeptAnswer =
  | { readonly kind: 'answered'; readonly line: string }
  /**
   * The process ended without an answer: by itself, because its output was too long, by the timeout or by the disposal.
   */
  | { readonly kind: 'ended'; readonly timedOut: boolean };

/**
 * Processes of one file that answer lines; each answers one line at a time. Disposing kills the processes and prevents
 * new ones.
 */
export type KeptChildren = AsyncDisposable & {
  /**
   * Sends a line to the waiting process, or to a new process if none is waiting. A process that does not answer in time
   * is killed.
   * @param line a text without a line feed
   * @throws the error of the system if the process cannot be started
   */
  ask(line: string, timeoutMs: number): Promise<KeptAnswer>;
};

const ignore = (): void => undefined;

type Ended = { readonly kind: 'ended'; readonly end: ChildEnd };
type Kept = {
  readonly child: Child;
  answers: number;
  /** Takes the answer to the line that was given, or the end of the process. */
  settle: (outcome: Extract<KeptAnswer, { kind: 'answered' }> | Ended) => void;
};

/**
 * After an answer the process waits for the next line, so that only the first line of a series waits for a start. A
 * process that ended, or that gave all its answers, is replaced by a new one. At most one process waits: a caller that
 * allows N concurrent lines never has more than N processes.
 */
export function createKeptChildren({
  file,
  nodeOptions = [],
  idleMs,
  mostAnswers,
  maxAnswerLength,
}: KeptOptions): KeptChildren {
  const alive = new Set<Kept>();
  let waiting: Kept | undefined;
  let idle: NodeJS.Timeout | undefined;
  let isOpen = true;

  function start(): Kept {
    let unended = 0;
    const receive = byLine((line) => {
      unended = 0;
      if (line.length > maxAnswerLength) kept.child.signal('SIGKILL');
      else kept.settle({ kind: 'answered', line });
    });
    const child = startChild([process.execPath, ...nodeOptions, file], {
      env: childEnvironment(),
      stdin: 'open',
      stdout(text) {
        unended += text.length;
        receive(text);
        if (unended > maxAnswerLength) child.signal('SIGKILL');
      },
    });
    const kept: Kept = { child, answers: 0, settle: ignore };
    alive.add(kept);
    void child.closed.then((end) => {
      alive.delete(kept);
      kept.settle({ kind: 'ended', end });
    });
    return kept;
  }

  function takeWaiting(): Kept | undefined {
    const taken = waiting;
    clearTimeout(idle);
    waiting = undefined;
    return taken?.child.hasEnded() === true ? undefined : taken;
  }

  async function kill(kept: Kept | undefined): Promise<void> {
    kept?.child.signal('SIGKILL');
    await kept?.child.closed;
  }

  /**
   * Makes this process wait for the next line, or a new process if this one gives no more answers.
   * @param isKilled whether the process was sent a signal: its answer can arrive before its end
   */
  function keep(used: Kept, isKilled: boolean): void {
    if (!isOpen || waiting?.child.hasEnded() === false) return void kill(used);
    takeWaiting();
    const isSpent = isKilled || used.answers >= mostAnswers || used.child.hasEnded();
    if (isSpent) void kill(used);
    try {
      waiting = isSpent ? start() : used;
    } catch {
      // The next line starts its own process, and throws if that fails.
      return;
    }
    idle = setTimeout(() => void kill(takeWaiting()), idleMs).unref();
  }

  return {
    async ask(line, timeoutMs) {
      if (!isOpen) return { kind: 'ended', timedOut: false };
      const used = takeWaiting() ?? start();
      const outcome = Promise.withResolvers<Parameters<Kept['settle']>[0]>();
      used.settle = outcome.resolve;
      let timedOut = false;
      const timer = setTimeout(() => {
        timedOut = true;
        used.child.signal('SIGKILL');
      }, timeoutMs);
      used.child.write(`${line}\n`);
      const settled = await outcome.promise;
      clearTimeout(timer);
      // Without this line the process would hold the answer while it waits.
      used.settle = ignore;
      used.answers += 1;
      keep(used, timedOut);
      if (settled.kind === 'answered') return settled;
      if (settled.end.kind === 'not_started') throw settled.end.error;
      return { kind: 'ended', timedOut };
    },
    async [Symbol.asyncDispose]() {
      isOpen = false;
      clearTimeout(idle);
      await Promise.all([...alive].map(kill));
    },
  };
}
