import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { RevisionRecorder } from '../../revisions/record-revision.ts';
import { listRevisionHeads } from '../../revisions/revision-heads.ts';
import type { ManagementCaches } from '../caches/management-caches.ts';
import type { OpenCommandRecord, OperationEnd, WrittenGeneration } from './command-record.ts';
import { decidePolicyEnd } from './decide-policy-end.ts';
import type { OperationStore } from './ports.ts';

/**
 * Records the revision of an operation on a policy, from its row, and ends the operation. Any process may repeat it.
 * @param live the current generation, if the caller has just read or written the object @returns the end; undefined
 * while the outcome is not known
 */
export type AdvancePolicy = (
  operation: OpenCommandRecord,
  written: WrittenGeneration,
  live?: WrittenGeneration,
) => Promise<OperationEnd | undefined>;

export function createAdvancePolicy(options: {
  readonly client: Pick<KubeClient, 'list' | 'get'>;
  readonly revisions: Pick<RevisionRecorder, 'record'>;
  readonly caches: Pick<ManagementCaches, 'revisions'>;
  readonly store: Pick<OperationStore, 'accept' | 'finish'>;
}): AdvancePolicy {
  const { client, revisions, caches, store } = options;

  async function readLive(policyId: string, name: string): Promise<WrittenGeneration | undefined> {
    const found = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
    if (found?.metadata.labels?.[idLabel] !== policyId) return undefined;
    return { uid: found.metadata.uid, generation: found.metadata.generation };
  }

  async function decide(
    operation: OpenCommandRecord,
    written: WrittenGeneration,
    given: WrittenGeneration | undefined,
  ) {
    const { write, target } = operation;
    if (write.type === 'write_binding')
      throw new TypeError('the revision of a command that writes a binding was requested');
    const { objectName, spec } = write;
    const facts = { policyId: target.id, token: spec.change ?? '', written };
    const known = caches.revisions(target.id);
    const seen = decidePolicyEnd(facts, known, undefined);
    if (seen?.kind === 'succeeded') return seen;
    const live = given ?? (await readLive(target.id, objectName));
    const lost = decidePolicyEnd(facts, [], live);
    if (lost === undefined) {
      const generation = {
        metadata: { name: objectName, ...written, deletionTimestamp: undefined },
        spec,
        note: write.note,
      };
      const result = await revisions.record(target.id, generation, known);
      const heads = result.kind === 'recorded' ? [result.head] : [];
      const end = decidePolicyEnd(facts, heads, undefined);
      if (end?.kind === 'succeeded') return end;
    }
    return decidePolicyEnd(facts, await listRevisionHeads(client, target.id), live);
  }

  return async (operation, written, given) => {
    if (!operation.accepted) await store.accept(operation.operationId, written);
    const end = await decide(operation, written, given);
    if (end !== undefined) await store.finish(operation.operationId, end);
    return end;
  };
}
