import { hasProcessTable, processTable } from '../../e2e/support/process-table.ts';
import { componentsOf } from './components-of.ts';
import { clusterFolder } from './places.ts';
import type { ControlPlaneRecord, WholeRecord } from './record.ts';

/**
 * Ends programs of a cluster that no note knows: their start was killed before it wrote one. Only programs that were
 * started for this very folder are meant, not those of somebody who looks into it.
 */
export function endStrays(record: ControlPlaneRecord | WholeRecord): void {
  if (!hasProcessTable) return;
  const folder = `${clusterFolder(record.name)}/`;
  const programs = Object.values(record.programs).filter((program) => program !== '');
  const known = new Set(componentsOf(record).map((one) => one.running()?.pid));
  for (const { pid, command } of processTable()) {
    const isOurs = command.includes(folder) && programs.some((program) => command.startsWith(`${program} `));
    if (!isOurs || known.has(pid)) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}
