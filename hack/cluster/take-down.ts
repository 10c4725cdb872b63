import { rmSync } from 'node:fs';
import { controlPlaneComponents } from './control-plane/components.ts';
import { clusterFolder } from './places.ts';
import { isRunning } from './process/process-identity.ts';
import { type Progress, silent } from './progress.ts';
import { clusterNames, readRecord } from './record.ts';

/** Ends every process of a cluster and removes everything that it made; what is gone already is no error. */
export async function takeDown(name: string, progress: Progress = silent): Promise<void> {
  const record = readRecord(name);
  if (record !== undefined) {
    // What holds no state of its own needs no grace, and the data go in any case.
    for (const one of controlPlaneComponents(record).toReversed()) {
      if (one.running() !== undefined) await progress.step(`ending ${one.name}`, () => one.stop(0));
    }
  }
  rmSync(clusterFolder(name), { recursive: true, force: true, maxRetries: 5 });
}

/** Takes down what belonged to processes that have ended without doing so. */
export async function removeAbandoned(): Promise<void> {
  for (const name of clusterNames()) {
    const owner = readRecord(name)?.owner;
    if (owner !== undefined && owner !== null && !isRunning(owner)) await takeDown(name);
  }
}
