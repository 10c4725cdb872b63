import { hasProcessTable, processTable } from '#kit/testing/process-table';
import { until } from '#kit/testing/until';
import { clusterFolder } from '../machine/places.ts';
import { isSameProcessRunning, processMark } from '../process/process-identity.ts';
import type { ControlPlaneRecord, WholeRecord } from '../record/record.ts';
import { clusterComponents } from './cluster-components.ts';

/**
 * Stops leftover processes of a cluster without a record, whose start was killed before the record was written. It
 * stops only processes that were started for exactly this folder, and waits until they have exited, because they hold
 * ports and file locks until then.
 */
export async function endStrays(record: ControlPlaneRecord | WholeRecord): Promise<void> {
  if (!hasProcessTable) return;
  const folder = `${clusterFolder(record.name)}/`;
  const programs = Object.values(record.programs).filter((program) => program !== '');
  const known = new Set(clusterComponents(record).map((one) => one.running()?.pid));
  const strays = processTable().filter(
    ({ pid, command }) =>
      !known.has(pid) && command.includes(folder) && programs.some((program) => command.startsWith(`${program} `)),
  );
  const marks = strays.flatMap(({ pid }) => processMark(pid) ?? []);
  for (const { pid } of marks) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has exited meanwhile.
    }
  }
  await until('the exit of leftover processes without a process file', () => !marks.some(isSameProcessRunning), {
    everyMs: 10,
  });
}
