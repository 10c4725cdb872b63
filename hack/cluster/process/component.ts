import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines } from '#kit/process/child-log';
import { until } from '#kit/testing/until';
import { ClusterError } from '../machine/cluster-error.ts';
import { isSameProcessRunning, onlyChildOf, type ProcessMark, processMark } from './process-identity.ts';

/** How to start one process of a cluster, and how to probe whether it is ready. */
export type ComponentPlan = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Command line of a wrapper that runs the process as its only child and exits with it. */
  readonly within?: () => readonly string[];
  /** Writes the configuration files that the process reads at its start. */
  readonly prepare?: () => void;
  /** Whether the process is ready. A probe that throws counts as not ready. */
  readonly isReady: () => Promise<boolean>;
  readonly readyWithinMs: number;
};

/** One process of a cluster. Its state is read from the folder of the cluster, so that any program can query it. */
export type Component = {
  readonly name: string;
  readonly logFile: string;
  readonly isReady: () => Promise<boolean>;
  /** Identity of the running process; undefined if the process does not run. */
  readonly running: () => (ProcessMark & { readonly since: Date }) | undefined;
  /**
   * Starts the process unless it is running, and waits until it is ready. @throws ClusterError with the last lines of
   * its log
   */
  readonly start: () => Promise<void>;
  /** Sends a signal to the process; does nothing if the process does not run. */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Stops the process and waits for its exit; after the grace period it is killed. */
  readonly stop: (graceMs?: number) => Promise<void>;
};

type ComponentHome = {
  /** Folder of the cluster; process files are in `run/`, logs in `logs/`. */
  readonly folder: string;
  /** Whether the processes keep running after the process that started them has ended. */
  readonly lasting: boolean;
};

/** The wrapper is the process that `within` starts. */
type Note = ProcessMark & { readonly since: string; readonly runner: ProcessMark };

const killMs = 10_000;
/** The program setpriv, a part of util-linux: with it the kernel ends the process together with its parent. */
const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => process.platform === 'linux' && existsSync(path));

function readNote(path: string): Note | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Note;
  } catch {
    return undefined;
  }
}

/** The process file is complete or absent. */
function writeNote(path: string, note: Note): void {
  writeFileSync(`${path}.new`, JSON.stringify(note));
  renameSync(`${path}.new`, path);
}

/** Selects the log lines that state why a program exited, not the stack trace. */
const complaint = /panic|fatal|error|fail|refused|denied|in use|no space|unknown flag|not permitted/i;

function lastWords(name: string, logFile: string, what: string): ClusterError {
  const tail = lastLines(logFile);
  if (tail.some((line) => line.includes('no space left on device'))) {
    return new ClusterError(
      'no-space',
      `${name} ${what}, because the disk of ${logFile} is full: free some space and start it again.`,
    );
  }
  const complaints = tail.filter((line) => complaint.test(line));
  const lines = (complaints.length > 0 ? complaints : tail).slice(-5).map((line) => `  ${line.slice(0, 500)}`);
  return new ClusterError('component-failed', `${name} ${what}. It said:\n${lines.join('\n')}`);
}

/** Starts the process or its wrapper. @returns the process id */
function spawnPlan(plan: ComponentPlan, logFile: string, lasting: boolean): number {
  const tied = lasting || setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL'];
  const [command = '', ...args] = [...tied, ...(plan.within?.() ?? []), plan.command, ...plan.args];
  const log = openSync(logFile, 'a');
  try {
    const child = spawn(command, args, { cwd: '/', detached: true, stdio: ['ignore', log, log] });
    // After an error the child has no pid, which is reported below.
    child.on('error', () => {});
    child.unref();
    if (child.pid === undefined) {
      throw new ClusterError(
        'missing-program',
        `${command} cannot be started: check that the file exists and is executable`,
      );
    }
    return child.pid;
  } finally {
    closeSync(log);
  }
}

/** Starts the process. @returns its identity; undefined when it has already exited */
async function launch(plan: ComponentPlan, logFile: string, lasting: boolean): Promise<Note | undefined> {
  const runner = processMark(spawnPlan(plan, logFile, lasting));
  if (runner === undefined) return undefined;
  const since = new Date().toISOString();
  if (plan.within === undefined) return { ...runner, since, runner };
  const what = `the start of ${plan.name}`;
  const found = await until(what, () => (isSameProcessRunning(runner) ? onlyChildOf(runner.pid) : 'ended'), {
    everyMs: 5,
  });
  const mark = found === 'ended' ? undefined : processMark(found);
  return mark === undefined ? undefined : { ...mark, since, runner };
}

/** The component that a plan describes, in its cluster; the function starts nothing. */
export function component(plan: ComponentPlan, { folder, lasting }: ComponentHome): Component {
  const noteFile = join(folder, 'run', `${plan.name}.json`);
  const logFile = join(folder, 'logs', `${plan.name}.log`);
  const running = (): (ProcessMark & { readonly since: Date }) | undefined => {
    const note = readNote(noteFile);
    return note !== undefined && isSameProcessRunning(note) ? { ...note, since: new Date(note.since) } : undefined;
  };
  const signal = (name: NodeJS.Signals): void => {
    const mark = running();
    if (mark !== undefined) process.kill(mark.pid, name);
  };
  const isGone = (): boolean => {
    const note = readNote(noteFile);
    return note === undefined || (!isSameProcessRunning(note) && !isSameProcessRunning(note.runner));
  };
  const gone = (deadlineMs: number) => until(`the end of ${plan.name}`, isGone, { deadlineMs, everyMs: 10 });
  return {
    name: plan.name,
    logFile,
    isReady: plan.isReady,
    running,
    signal,
    start: async () => {
      if (running() === undefined) {
        for (const path of ['run', 'logs']) mkdirSync(join(folder, path), { recursive: true });
        plan.prepare?.();
        const note = await launch(plan, logFile, lasting);
        if (note === undefined) throw lastWords(plan.name, logFile, 'ended at once');
        writeNote(noteFile, note);
      }
      const begin = performance.now();
      for (;;) {
        if (await plan.isReady().catch(() => false)) return;
        if (running() === undefined) throw lastWords(plan.name, logFile, 'ended before it was ready');
        if (performance.now() - begin > plan.readyWithinMs) {
          throw lastWords(plan.name, logFile, `was not ready after ${plan.readyWithinMs / 1_000} s`);
        }
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    stop: async (graceMs = killMs) => {
      // A stopped process handles no signal except SIGKILL.
      signal('SIGCONT');
      if (graceMs > 0) signal('SIGTERM');
      await gone(graceMs).catch(() => signal('SIGKILL'));
      await gone(killMs);
      rmSync(noteFile, { force: true });
    },
  };
}
