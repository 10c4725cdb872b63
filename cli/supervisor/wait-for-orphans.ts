import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../platform/data-directory.ts';
import { entries } from './platform-processes.ts';

/** An orphan notices the death of its supervisor and exits within seconds; a suspended one does not. */
const graceMs = 8_000;

/**
 * Waits until the processes of a killed supervisor have exited, and kills those that have not after the grace period. A
 * process is recognised by its entry point and data directory in the command line, never by its id alone.
 */
export async function waitForOrphans(data: DataDirectory, say: (sentence: string) => void): Promise<void> {
  const deadline = performance.now() + graceMs;
  for (let turn = 0; ; turn += 1) {
    const orphans = findOrphans(data);
    if (orphans.length === 0) break;
    if (turn === 0) say(`waiting for ${orphans.length} processes of an earlier start to end`);
    if (performance.now() > deadline) for (const pid of orphans) kill(pid);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const file of readdirSync(data.run)) rmSync(join(data.run, file), { force: true });
}

function findOrphans(data: DataDirectory): readonly number[] {
  const files = Object.values(entries);
  return commandLines().flatMap(({ pid, line }) =>
    line.endsWith(` ${data.root}`) && files.some((file) => line.includes(`/${file} `)) ? [pid] : [],
  );
}

/** All processes with their arguments, separated by spaces. A zombie has none. */
function commandLines(): readonly { pid: number; line: string }[] {
  if (process.platform !== 'linux') {
    const rows = execFileSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
    return rows.map((row) => ({ pid: Number.parseInt(row, 10), line: row.trim().replace(/^\d+ /, '') }));
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), line: argumentsOf(name) }));
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0$/, '').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in between.
  }
}
