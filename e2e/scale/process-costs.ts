import { readFileSync } from 'node:fs';
import type { Level } from '../isolation/collect-on-signal.ts';
import type { RunningProcess } from '../support/start-process.ts';
import { until } from '../support/until.ts';

const ticksPerSecond = 100;

/** Seconds of CPU that a process took so far. */
export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** The most memory that a process had resident so far, MiB. */
export function peakMiBOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/** What is alive in a process after its garbage was collected, bytes. */
export async function liveBytesOf(process: RunningProcess): Promise<number> {
  const levels = (): readonly string[] => process.log().match(/^collected .*$/gm) ?? [];
  for (let round = 0; round < 2; round += 1) {
    const before = levels().length;
    process.child.kill('SIGUSR2');
    await until('its garbage is collected', () => levels().length > before);
  }
  return (JSON.parse(levels().at(-1)?.slice('collected '.length) ?? '{}') as Level).live;
}
