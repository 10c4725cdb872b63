import { readdirSync, readFileSync } from 'node:fs';

/** A running process of this machine, as listed in /proc. */
type ProcessEntry = { readonly pid: number; readonly parent: number; readonly command: string };

function readEntry(pid: string): ProcessEntry | undefined {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const parent = Number(/^PPid:\t(\d+)$/m.exec(status)?.[1]);
    // A zombie process has no command line.
    return command === '' ? undefined : { pid: Number(pid), parent, command };
  } catch {
    return undefined;
  }
}

/** Whether this system lists its processes in /proc. */
export const hasProcessTable = process.platform === 'linux';

export function processTable(): readonly ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readEntry(pid) ?? []);
}

/** The running children of a process whose command line contains a text. */
export function childrenOf(pid: number, text: string): readonly number[] {
  return processTable()
    .filter(({ parent, command }) => parent === pid && command.includes(text))
    .map((entry) => entry.pid);
}

/** A process and its descendants. */
export function familyOf(pid: number): readonly ProcessEntry[] {
  const table = processTable();
  const family = new Set([pid]);
  for (const member of family) {
    for (const { pid: child, parent } of table) if (parent === member) family.add(child);
  }
  return table.filter((entry) => family.has(entry.pid));
}

/** Memory of a process in bytes. Proportional memory divides shared pages, so that it can be summed over processes. */
export function processMemory(pid: number): { readonly resident: number; readonly proportional: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kilobytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
  return { resident: kilobytes('Rss') * 1_024, proportional: kilobytes('Pss') * 1_024 };
}
