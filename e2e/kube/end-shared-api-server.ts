import { takeDown } from '../../hack/cluster/life/take-down.ts';
import { readRecord } from '../../hack/cluster/record/record.ts';

/** Name of the control plane that the test files of one run of vitest share. */
export function sharedName(runPid: number): string {
  return `run-${runPid}`;
}

/** Name of the control plane with simulated nodes. */
export function sharedNodesName(runPid: number): string {
  return `run-nodes-${runPid}`;
}

/** Global teardown: vitest calls it in its own process after the last test file. */
export async function teardown(): Promise<void> {
  for (const name of [sharedName(process.pid), sharedNodesName(process.pid)]) {
    if (readRecord(name) !== undefined) await takeDown(name);
  }
}
