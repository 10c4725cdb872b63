import { userInfo } from 'node:os';
import { ClusterError } from '../machine/cluster-error.ts';
import type { ProgressReporter } from '../machine/progress.ts';
import { makeControlGroup, removeControlGroup } from './control-groups.ts';
import { spaceProblem } from './space.ts';
import { systemPrograms } from './system-programs.ts';

/**
 * States in one sentence which requirements of a cluster with a node and without Docker a machine lacks; undefined if
 * it lacks none. Installs missing Debian packages. Programs that are built from source are not examined: a failed build
 * is an error.
 */
export async function missingForNode(progress: ProgressReporter): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'a cluster with a node needs Linux or Docker';
  if (userInfo().uid !== 0) return 'a cluster with a node needs root or Docker: run as root or start Docker';
  try {
    const { unshare } = await systemPrograms(progress);
    const problem = spaceProblem(unshare);
    if (problem !== undefined) return `this machine lets root make no namespaces, mounts and interfaces: ${problem}`;
  } catch (error) {
    if (error instanceof ClusterError) return error.message;
    throw error;
  }
  return controlGroupProblem();
}

async function controlGroupProblem(): Promise<string | undefined> {
  const name = `portcullis-try-${process.pid}`;
  try {
    makeControlGroup(name);
    await removeControlGroup(name);
    return undefined;
  } catch (error) {
    return `this machine lets root make no control groups: ${error instanceof Error ? error.message : String(error)}`;
  }
}
