import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { controlPlaneComponents } from '../control-plane/components.ts';
import { endKind } from '../kind/kind-cluster.ts';
import { ClusterError } from '../machine/cluster-error.ts';
import { cacheFolder, clusterFolder } from '../machine/places.ts';
import { type ProgressReporter, silentProgress } from '../machine/progress.ts';
import { isAtWork } from '../process/process-identity.ts';
import {
  type ClusterRecord,
  type ControlPlaneRecord,
  clusterNames,
  readRecord,
  type WholeRecord,
} from '../record/record.ts';
import { controlGroupOf, spaceOf, wholeStages } from '../whole/components.ts';
import { removeControlGroup } from '../whole/control-groups.ts';
import { endStrays } from './end-strays.ts';

async function endControlPlane(record: ControlPlaneRecord, progress: ProgressReporter): Promise<void> {
  // Components without persistent state are killed without a grace period; the data are removed anyway.
  for (const one of controlPlaneComponents(record).toReversed()) {
    if (one.running() !== undefined) await progress.step(`ending ${one.name}`, () => one.stop(0));
  }
}

/** The kernel kills all processes in the cluster's namespace, including containers. */
async function endWhole(record: WholeRecord, progress: ProgressReporter): Promise<void> {
  const space = spaceOf(record);
  await progress.step('stopping every process and container', async () => {
    await space.component.stop(0);
    for (const one of wholeStages(record, space).flat()) await one.stop(0);
  });
  await space.disconnect();
  await progress.step('removing control groups', () => removeControlGroup(controlGroupOf(record)));
}

async function endProcesses(record: ClusterRecord, progress: ProgressReporter): Promise<void> {
  switch (record.size) {
    case 'control-plane':
      await endControlPlane(record, progress);
      await endStrays(record);
      return;
    case 'whole':
      return endWhole(record, progress);
    case 'kind':
      return progress.step('kind delete cluster', () => endKind(record));
  }
}

/** Stops every process of a cluster and removes its files. Idempotent. */
export async function takeDown(name: string, progress: ProgressReporter = silentProgress): Promise<void> {
  const record = readRecord(name);
  if (record !== undefined) await endProcesses(record, progress);
  rmSync(clusterFolder(name), { recursive: true, force: true, maxRetries: 5 });
}

/** Keeps the logs of a failed start and removes the rest of the cluster. @returns the folder with the logs */
async function keepLogs(name: string): Promise<string> {
  const kept = join(cacheFolder(), 'last-failure');
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(kept, { recursive: true });
  const logs = join(clusterFolder(name), 'logs');
  if (existsSync(logs)) cpSync(logs, kept, { recursive: true });
  await takeDown(name);
  return kept;
}

/** Runs the start of a new cluster. When it fails, only its logs are kept, and the error names their folder. */
export async function startOrRemove<T>(name: string, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const kept = await keepLogs(name);
    if (error instanceof ClusterError) {
      throw new ClusterError(error.code, `${error.message}\nThe logs of this start are in ${kept}.`, { cause: error });
    }
    throw error;
  }
}

/** Takes down clusters whose owner processes have exited without doing so. */
export async function removeAbandoned(): Promise<void> {
  for (const name of clusterNames()) {
    const owner = readRecord(name)?.owner;
    if (owner !== undefined && owner !== null && !isAtWork(owner)) await takeDown(name);
  }
}
