import { execFileSync } from 'node:child_process';

/** Ids of all descendants of a process. */
export function descendantsOf(pid: number): readonly number[] {
  const rows = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const parents = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const found = [pid];
  for (const parent of found) {
    for (const [child = -1, its] of parents) if (its === parent) found.push(child);
  }
  return found.slice(1);
}

/** Whether a process is running; a zombie process does not count as running. */
export function isProcessRunning(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .startsWith('Z');
  } catch {
    return false;
  }
}
