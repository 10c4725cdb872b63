import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const bootIdFile = '/proc/sys/kernel/random/boot_id';

type LinuxState = {
  /** Whether the first thread of a process has ended. */
  readonly isEnding: boolean;
  readonly threads: number;
  readonly startedAt: string;
};

function linuxState(pid: number): LinuxState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command name in parentheses may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const [threads, , startedAt = ''] = fields.slice(17);
    return { isEnding: state === 'Z' || state === 'X', threads: state === 'X' ? 0 : Number(threads), startedAt };
  } catch {
    return undefined;
  }
}

function linuxIdentity(pid: number): string | undefined {
  const state = linuxState(pid);
  // The first thread of a killed program may end before its other threads, which hold the sockets until they end, too.
  if (state === undefined || (state.isEnding && state.threads <= 1)) return undefined;
  return `${readFileSync(bootIdFile, 'utf8').trim()}/${state.startedAt}`;
}

function otherIdentity(pid: number): string | undefined {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || undefined;
  } catch {
    return undefined;
  }
}

/**
 * A value that distinguishes a running process from a later process with the same id; undefined if no process with this
 * id runs. A zombie process does not count as running.
 */
function identityOf(pid: number): string | undefined {
  return process.platform === 'linux' ? linuxIdentity(pid) : otherIdentity(pid);
}

/** Identity of a process: it stays unambiguous after a reboot or a reuse of the process id. */
export type ProcessMark = { readonly pid: number; readonly identity: string };

/** @returns undefined when the process does not run */
export function processMark(pid: number): ProcessMark | undefined {
  const identity = identityOf(pid);
  return identity === undefined ? undefined : { pid, identity };
}

export function isSameProcessRunning(mark: ProcessMark): boolean {
  return identityOf(mark.pid) === mark.identity;
}

/**
 * Whether a process still works. A killed process exists until its last thread has ended but does no work; processes
 * that the kernel ends together with it may already have exited.
 */
export function isAtWork(mark: ProcessMark): boolean {
  if (!isSameProcessRunning(mark)) return false;
  return process.platform !== 'linux' || linuxState(mark.pid)?.isEnding === false;
}

/** The child of a process that has exactly one child; undefined until it has one. Linux only. */
export function onlyChildOf(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return first === undefined || first === '' ? undefined : Number(first);
  } catch {
    return undefined;
  }
}
