import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ServerError } from './server-error.ts';

/** How long a server whose parent is gone may take to end, milliseconds. */
const endMs = 20_000;
const lookMs = 50;

/**
 * Ends a server that an earlier process left on this data folder, and waits for its end.
 *
 * A file that names no such server is removed: PostgreSQL would refuse to start where its number is that of any other
 * process by now, and in a container that is started anew, threads of this process have such numbers. Nothing is lost:
 * PostgreSQL looks for processes that still use the folder by the segment of memory that they share, file or no file.
 * @throws ServerError where the server belongs to a process that still runs, or does not end
 */
export async function endOrphan(data: string): Promise<void> {
  const pid = serverOf(data);
  if (pid === undefined) return rmSync(lockFile(data), { force: true });
  const parent = parentOf(pid);
  if (parent?.command.includes('dataplane/postgres/main.ts')) {
    throw new ServerError('folder_in_use', `${data} is in use by process ${parent.pid}: end that one first`);
  }
  tellToEnd(pid);
  for (let waited = 0; serverOf(data) === pid; waited += lookMs) {
    if (waited > endMs) {
      throw new ServerError('folder_in_use', `${data} is in use by the server ${pid}, which does not end: end it`);
    }
    await pause(lookMs);
  }
}

function tellToEnd(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    // It has ended by itself, or is told by the loop not to end.
  }
}

function lockFile(data: string): string {
  return join(data, 'postmaster.pid');
}

/** The server that runs on the folder; undefined where none does. */
function serverOf(data: string): number | undefined {
  const pid = Number(firstLine(lockFile(data)));
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  return commandOf(pid)?.includes('/bin/postgres') && worksIn(pid, data) ? pid : undefined;
}

/** Whether a server has the folder, as far as the system tells: one of somebody else is not ours to end. */
function worksIn(pid: number, data: string): boolean {
  if (process.platform !== 'linux') return commandOf(pid)?.includes(data) === true;
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data);
  } catch {
    return ownerOf(`/proc/${pid}`) === ownerOf(data);
  }
}

function ownerOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.uid;
}

function parentOf(pid: number): { readonly pid: number; readonly command: string } | undefined {
  const parent = Number(ps(pid, 'ppid'));
  return Number.isInteger(parent) && parent > 0 ? { pid: parent, command: commandOf(parent) ?? '' } : undefined;
}

function commandOf(pid: number): string | undefined {
  return ps(pid, 'command');
}

/** What the system says about a process; undefined where there is none. */
function ps(pid: number, what: 'ppid' | 'command'): string | undefined {
  try {
    if (process.platform === 'linux') {
      if (what === 'command') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') || undefined;
      return /^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    }
    return execFileSync('ps', ['-o', `${what}=`, '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

function firstLine(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').split('\n')[0];
  } catch {
    return undefined;
  }
}
