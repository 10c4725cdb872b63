import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DataDirectory } from '../platform/data-directory.ts';
import { entries } from './platform-processes.ts';

/** An orphan notices the death of its supervisor at once and has a few seconds to end; a frozen one never does. */
const patienceMs = 8_000;

/**
 * Waits until the processes that a killed supervisor left behind have ended by themselves, and ends those that do not.
 * A process is one of ours only when its command line is an entry point of ours with this data directory: a process id
 * alone is never trusted.
 */
export async function waitForOrphans(data: DataDirectory, say: (sentence: string) => void): Promise<void> {
  const deadline = performance.now() + patienceMs;
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

/** All processes with their arguments, separated by spaces. A process that has ended but was not reaped has none. */
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
