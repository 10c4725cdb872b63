import { digestOf } from '#contracts/canonical';
import type { KubeClient } from '#kube/client/client';
import type { PolicyTest } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { RuntimeWorkload } from '#resources/runtime-workload';

/** Limit of passed lists that a workload records. */
const remembered = 64;

export function testsDigest(tests: readonly PolicyTest[]): string {
  return digestOf(tests);
}

/**
 * Records in the status of the workload that it passed a list of tests. The other fields have another writer and are
 * not changed; of two concurrent recorders one gets a conflict and reads again.
 */
export async function recordPassedTests(
  client: Pick<KubeClient, 'patchStatus'>,
  generation: Stored<RuntimeWorkload>,
  digest: string,
): Promise<void> {
  const passed = generation.status?.testsPassed;
  const path = '/status/testsPassed';
  await client.patchStatus(kinds.runtimeWorkload, generation.metadata.name, [
    { op: 'test', path: '/metadata/uid', value: generation.metadata.uid },
    ...(passed === undefined ? [] : [{ op: 'test', path, value: passed } as const]),
    { op: 'add', path, value: [digest, ...(passed ?? [])].slice(0, remembered) },
  ]);
}
