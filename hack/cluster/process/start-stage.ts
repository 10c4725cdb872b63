import type { ProgressReporter } from '../machine/progress.ts';
import type { Component } from './component.ts';

async function serves(one: Component): Promise<boolean> {
  return one.running() !== undefined && (await one.isReady().catch(() => false));
}

/**
 * Starts the components that are not ready, concurrently, and waits until all are ready. If one fails, waits for the
 * end of the other starts. @throws ClusterError of the first failure
 */
export async function startStage(stage: readonly Component[], progress: ProgressReporter): Promise<void> {
  const missing: Component[] = [];
  for (const one of stage) if (!(await serves(one))) missing.push(one);
  if (missing.length === 0) return;
  await progress.step(missing.map(({ name }) => name).join(', '), async () => {
    const results = await Promise.allSettled(missing.map((one) => one.start()));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  });
}
