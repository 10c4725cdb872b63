import { hasProcessTable, processTable } from '../../e2e/support/process-table.ts';
import { until } from '../../e2e/support/until.ts';
import { componentsOf } from './components-of.ts';
import { clusterFolder } from './places.ts';
import { isRunning, markOf } from './process/process-identity.ts';
import type { ControlPlaneRecord, WholeRecord } from './record.ts';

/**
 * Ends programs of a cluster that no note knows: their start was killed before it wrote one. Only programs that were
 * started for this very folder are meant, not those of somebody who looks into it. Waits until they have ended: until
 * then they hold their ports and the locks of their files.
 */
export async function endStrays(record: ControlPlaneRecord | WholeRecord): Promise<void> {
  if (!hasProcessTable) return;
  const folder = `${clusterFolder(record.name)}/`;
  const programs = Object.values(record.programs).filter((program) => program !== '');
  const known = new Set(componentsOf(record).map((one) => one.running()?.pid));
  const strays = processTable().filter(
    ({ pid, command }) =>
      !known.has(pid) && command.includes(folder) && programs.some((program) => command.startsWith(`${program} `)),
  );
  const marks = strays.flatMap(({ pid }) => markOf(pid) ?? []);
  for (const { pid } of marks) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process ended meanwhile.
    }
  }
  await until('the end of programs without a note', () => !marks.some(isRunning), { everyMs: 10 });
}
