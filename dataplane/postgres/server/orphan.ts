import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ServerError } from './server-error.ts';

/** Timeout for the exit of an orphaned server, milliseconds. */
const endMs = 20_000;
const lookMs = 50;

/**
 * Stops a server that an earlier process left running on this data folder, and waits for its exit.
 *
 * Removes a stale postmaster.pid: PostgreSQL refuses to start if any process has the id in it, and in a restarted
 * container a thread of this process can have the id. Removing the file is safe, because PostgreSQL also detects
 * processes that use the folder by their shared memory segment.
 * @throws ServerError if the parent of the server still runs, or the server does not exit
 */
export async function endOrphan(data: string): Promise<void> {
  const pid = serverOf(data);
  if (pid === undefined) return rmSync(lockFile(data), { force: true });
  const parent = parentOf(pid);
  if (parent?.command.startsWith('portcullis-postgres')) {
    throw new ServerError('folder_in_use', `${data} is in use by process ${parent.pid}: stop that process first`);
  }
  tellToEnd(pid);
  for (let waited = 0; serverOf(data) === pid; waited += lookMs) {
    if (waited > endMs) {
      throw new ServerError('folder_in_use', `${data} is in use by the server ${pid}, which does not exit: stop it`);
    }
    await pause(lookMs);
  }
}

function tellToEnd(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
    // A frozen server acts on no signal until it continues.
    process.kill(pid, 'SIGCONT');
  } catch {
    // The server exited meanwhile, or the loop below times out.
  }
}

function lockFile(data: string): string {
  return join(data, 'postmaster.pid');
}

/** The process id of the server that uses the data folder; undefined if no server runs. */
function serverOf(data: string): number | undefined {
  const pid = Number(firstLine(lockFile(data)));
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  return commandOf(pid)?.includes('/bin/postgres') && worksIn(pid, data) ? pid : undefined;
}

/**
 * Whether a process is a PostgreSQL server for this data folder, according to the system's process list. Other
 * processes are never stopped.
 */
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

/** Command and parent of a process, as the system shows them; undefined if the process does not exist. */
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
