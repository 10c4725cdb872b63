import type { ProgressReporter } from '../progress.ts';
import type { Component } from './component.ts';

async function serves(one: Component): Promise<boolean> {
  return one.running() !== undefined && (await one.isReady().catch(() => false));
}

/**
 * Starts those components that do not serve, side by side, and waits until all do.
 * @throws ClusterError of the first that fails, once none is starting any more
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
