import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ServerError } from './server-error.ts';

/** How long a server whose parent is gone may take to end, milliseconds. */
const endMs = 20_000;
const lookMs = 50;

/**
 * Ends a server that an earlier process left on this data folder, and waits for its end. A file that names a process
 * that is gone is left to PostgreSQL, which takes it over.
 * @throws ServerError where the server belongs to a process that still runs, or does not end
 */
export async function endOrphan(data: string): Promise<void> {
  const pid = serverOf(data);
  if (pid === undefined) return;
  const parent = parentOf(pid);
  if (parent === undefined) return;
  if (parent.command.includes('dataplane/postgres/main.ts')) {
    throw new ServerError('folder_in_use', `${data} is in use by process ${parent.pid}: end that one first`);
  }
  process.kill(pid, 'SIGINT');
  for (let waited = 0; serverOf(data) === pid; waited += lookMs) {
    if (waited > endMs) {
      throw new ServerError('folder_in_use', `${data} is in use by the server ${pid}, which does not end: end it`);
    }
    await pause(lookMs);
  }
}

/** The server that runs on the folder; undefined where none does. */
function serverOf(data: string): number | undefined {
  const pid = Number(firstLine(join(data, 'postmaster.pid')));
  if (!Number.isInteger(pid) || pid <= 1) return undefined;
  return commandOf(pid)?.includes('/bin/postgres') ? pid : undefined;
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
