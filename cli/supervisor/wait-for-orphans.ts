import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '#contracts/data-directory';

/**
 * How long to wait for orphaned processes, milliseconds: an orphan notices the death of its supervisor and exits within
 * seconds, unless it is suspended.
 */
const graceMs = 8_000;

/**
 * The variable by which a process of the platform is recognised: unlike a process id the variable is never reused,
 * unlike a command line it never changes, and it exists from the start of the process. The value contains no space.
 */
export function supervisedIn(data: DataDirectory): { readonly PORTCULLIS_SUPERVISED_IN: string } {
  return { PORTCULLIS_SUPERVISED_IN: encodeURI(data.root) };
}

/** Waits until the processes of a killed supervisor have exited, and kills those that have not after the grace period. */
export async function waitForOrphans(data: DataDirectory, say: (sentence: string) => void): Promise<void> {
  const deadline = performance.now() + graceMs;
  for (let turn = 0; ; turn += 1) {
    const orphans = findOrphans(data);
    if (orphans.length === 0) break;
    if (turn === 0) say(`waiting for ${orphans.length} processes of an earlier start to end`);
    if (performance.now() > deadline) for (const pid of orphans) kill(pid);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const file of readdirSync(data.run)) rmSync(join(data.run, file), { force: true, recursive: true });
}

function findOrphans(data: DataDirectory): readonly number[] {
  const variable = `PORTCULLIS_SUPERVISED_IN=${supervisedIn(data).PORTCULLIS_SUPERVISED_IN}`;
  if (process.platform === 'linux') {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return pids.filter((pid) => environmentOf(pid).includes(variable)).map(Number);
  }
  const rows = execFileSync('ps', ['-axwwE', '-o', 'pid=,command='], { encoding: 'utf8', maxBuffer: 2 ** 26 }).split(
    '\n',
  );
  return rows.filter((row) => row.split(' ').includes(variable)).map((row) => Number.parseInt(row, 10));
}

/** Environment of a process; empty for a process of another user and for a zombie. */
function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited meanwhile.
  }
}
