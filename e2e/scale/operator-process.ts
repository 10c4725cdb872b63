import { type RunningProcess, startProcess } from '../support/start-process.ts';
import { until } from '../support/until.ts';
import type { ScaleWorld } from './open-world.ts';

/** A process of the operator, as soon as it knows all resources; it may lead or stand by. */
export async function startOperator(world: ScaleWorld, replica: string): Promise<RunningProcess> {
  const environment = await world.operatorEnvironment(replica);
  return startProcess({ file: 'operator/main.ts', environment, deadlineMs: 60_000 });
}

export function leads(operator: RunningProcess): boolean {
  return operator.log().includes('"event":"leading"');
}

/** Passes that wait or run, of all controllers. */
async function openPasses(operator: RunningProcess): Promise<number> {
  const metrics = await (await fetch(new URL('/metrics', operator.url))).text();
  const counts = metrics.matchAll(/^(?:workqueue_depth|controller_runtime_active_workers)\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
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
    { deadlineMs: 120_000, everyMs },
  );
}
