import { readRecord } from '../../hack/cluster/record.ts';
import { takeDown } from '../../hack/cluster/take-down.ts';

/** Name of the control plane that the test files of one run of vitest share. */
export function sharedName(runPid: number): string {
  return `run-${runPid}`;
}

/** Global teardown: vitest calls it in its own process after the last test file. */
export async function teardown(): Promise<void> {
  const name = sharedName(process.pid);
  if (readRecord(name) !== undefined) await takeDown(name);
}
