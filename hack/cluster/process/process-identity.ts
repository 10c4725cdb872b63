import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const bootIdFile = '/proc/sys/kernel/random/boot_id';

type LinuxState = {
  /** Whether its first thread has ended. */
  readonly isEnding: boolean;
  readonly threads: number;
  readonly startedAt: string;
};

function linuxState(pid: number): LinuxState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may hold spaces and parentheses itself.
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
  // Of a killed program the first thread may end before others, which hold its sockets until they end, too.
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
 * Distinguishes a running process from a later one with the same id; undefined when none runs. A zombie does not run.
 */
function identityOf(pid: number): string | undefined {
  return process.platform === 'linux' ? linuxIdentity(pid) : otherIdentity(pid);
}

/** A process id that stays unambiguous after a reboot or a reuse of the id. */
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
 * Whether a process still does something by itself. One that was killed does not, although it runs on for as long as
 * one of its threads takes to end, which is after the end of what the kernel ended along with it.
 */
export function isAtWork(mark: ProcessMark): boolean {
  if (!isSameProcessRunning(mark)) return false;
  return process.platform !== 'linux' || linuxState(mark.pid)?.isEnding === false;
}

/** The child of a process that has one; undefined as long as it has none. Linux only. */
export function onlyChildOf(pid: number): number | undefined {
  try {
    const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    return first === undefined || first === '' ? undefined : Number(first);
  } catch {
    return undefined;
  }
}
