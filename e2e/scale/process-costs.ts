import { readFileSync } from 'node:fs';
import { until } from '#kit/testing/until';
import type { Level } from '../isolation/collect-on-signal.ts';
import type { RunningProcess } from '../support/start-process.ts';

const ticksPerSecond = 100;

/** CPU seconds that a process has used up to now. */
export function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Peak resident memory of a process up to now, in MiB. */
export function peakMiBOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/** Live heap of a process after garbage collection, in bytes. */
export async function liveBytesOf(process: RunningProcess): Promise<number> {
  const levels = (): readonly string[] => process.log().match(/^collected .*$/gm) ?? [];
  for (let round = 0; round < 2; round += 1) {
    const before = levels().length;
    process.signal('SIGUSR2');
    await until('the process collected its garbage', () => levels().length > before);
  }
  return (JSON.parse(levels().at(-1)?.slice('collected '.length) ?? '{}') as Level).live;
}
