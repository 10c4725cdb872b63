import { until } from '#kit/testing/until';
import { type RunningProcess, startProcess } from '../support/start-process.ts';
import type { ScaleWorld } from './open-scale-world.ts';

/** Starts a process of the operator and waits until it has synced all resources; it is the leader or a standby. */
export async function startOperator(world: ScaleWorld, replica: string): Promise<RunningProcess> {
  const environment = await world.operatorEnvironment(replica);
  return startProcess({ file: 'operator/main.ts', environment });
}

export function leads(operator: RunningProcess): boolean {
  return operator.log().includes('"event":"leading"');
}

async function sumOf(operator: RunningProcess, series: RegExp): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', operator.url))).text();
  return [...metrics.matchAll(series)].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Number of queued and running passes of all controllers. */
function openPasses(operator: RunningProcess): Promise<number> {
  return sumOf(operator, /^(?:workqueue_depth|controller_runtime_active_workers)\{[^}]*\} (\d+)$/gm);
}

/** Waits until this many passes over bindings have completed. */
export async function looked(operator: RunningProcess, passes: number): Promise<void> {
  const series = /^controller_runtime_reconcile_total\{[^}]*controller="modelbinding"[^}]*\} (\d+)$/gm;
  const all = async () => (await sumOf(operator, series)) >= passes;
  await until('every binding is reconciled', all, { everyMs: 50 });
}

/** Waits until a leader has reconciled every object and its queues are empty. */
export async function settled(operator: RunningProcess, everyMs = 100): Promise<void> {
  let quiet = 0;
  await until(
    'the queues of the operator are empty',
    async () => {
      quiet = leads(operator) && (await openPasses(operator)) === 0 ? quiet + 1 : 0;
      return quiet >= 3;
    },
    { everyMs },
  );
}
