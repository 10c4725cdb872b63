import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { until } from '../support/until.ts';
import type { ScaleWorld } from './open-world.ts';

/** A process of the operator, as soon as it knows all resources; it may lead or stand by. */
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

/** Passes that wait or run, of all controllers. */
function openPasses(operator: RunningProcess): Promise<number> {
  return sumOf(operator, /^(?:workqueue_depth|controller_runtime_active_workers)\{[^}]*\} (\d+)$/gm);
}

/** Waits until so many passes over bindings are done. */
export async function looked(operator: RunningProcess, passes: number): Promise<void> {
  const series = /^controller_runtime_reconcile_total\{[^}]*controller="modelbinding"[^}]*\} (\d+)$/gm;
  const all = async () => (await sumOf(operator, series)) >= passes;
  await until('every binding is looked at', all, { everyMs: 50 });
}

/** Waits until a leader has looked at everything and nothing is left to do. */
export async function settled(operator: RunningProcess, everyMs = 100): Promise<void> {
  let quiet = 0;
  await until(
    'the operator has nothing to do',
    async () => {
      quiet = leads(operator) && (await openPasses(operator)) === 0 ? quiet + 1 : 0;
      return quiet >= 3;
    },
    { everyMs },
  );
}
