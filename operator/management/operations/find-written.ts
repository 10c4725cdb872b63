import type { KubeClient } from '#kube/client/client';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { idLabel, kinds } from '#resources/kinds';
import type { ModelBinding } from '#resources/model-binding';
import { listRevisionHeads } from '../../revisions/revision-heads.ts';
import { changeToken } from '../policies/make-policy.ts';
import type { CommandRecord, CommandWrite, WrittenGeneration } from './command-record.ts';

/**
 * The generation that the write of a command created, if the operation id of the command is found: in the spec, in the
 * revisions, or in the application history. Undefined does not prove that nothing was written: a later change may have
 * replaced the write.
 */
export function findWritten(
  client: Pick<KubeClient, 'get' | 'list'>,
  command: Pick<CommandRecord, 'operationId' | 'target'> & { readonly write: CommandWrite },
): Promise<WrittenGeneration | undefined> {
  const { operationId, target, write } = command;
  switch (write.type) {
    case 'create_policy':
      return findPolicyWrite(client, target.id, write.objectName, { operationId, generation: 1 });
    case 'replace_policy':
      return findPolicyWrite(client, target.id, write.objectName, {
        operationId,
        generation: write.generation + 1,
        // The operator creates a kept policy again with this token: the write has changed the object before it.
        ...(write.keep === undefined ? {} : { uid: write.uid }),
      });
    case 'write_binding':
      return findBindingWrite(client, write, operationId);
  }
}

async function findPolicyWrite(
  client: Pick<KubeClient, 'get' | 'list'>,
  policyId: string,
  objectName: string,
  {
    operationId,
    generation,
    uid,
  }: { readonly operationId: string; readonly generation: number; readonly uid?: string },
): Promise<WrittenGeneration | undefined> {
  const token = changeToken(operationId, generation);
  const live = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, objectName);
  const isOther = uid !== undefined && live?.metadata.uid !== uid;
  if (!isOther && live?.metadata.labels?.[idLabel] === policyId && live.spec.change === token) {
    return { uid: live.metadata.uid, generation };
  }
  const heads = await listRevisionHeads(client, policyId);
  const own = heads.find((head) => head.token === token && head.policy.generation === generation);
  return own === undefined ? undefined : { uid: own.policy.uid, generation };
}

async function findBindingWrite(
  client: Pick<KubeClient, 'get'>,
  write: CommandWrite & { readonly type: 'write_binding' },
  operationId: string,
): Promise<WrittenGeneration | undefined> {
  const live = await client.get<ModelBinding>(kinds.modelBinding, write.objectName);
  if (live?.metadata.uid !== write.uid) return undefined;
  const isInSpec = live.spec.apply === operationId;
  const isInHistory = live.status?.applications?.some((record) => record.operationId === operationId) ?? false;
  return isInSpec || isInHistory ? { uid: write.uid, generation: write.generation + 1 } : undefined;
}
