import type { JsonPatchOperation, KubeClient } from '#kube/client/client';
import { isKubeError, type KubeErrorCode } from '#kube/client/kube-error';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { newPolicyObject } from '../policies/make-policy.ts';
import { findWritten } from './find-written.ts';
import type { CommandWrite, Operation, Written } from './operation.ts';

/** What became of the write of a command. */
export type Sent =
  | { readonly kind: 'written'; readonly written: Written }
  /** Nothing was written, and this write cannot be made any more. */
  | { readonly kind: 'refused'; readonly why: 'changed' | 'gone' | 'invalid' }
  /** Nothing was written; the server does not let this process write. */
  | { readonly kind: 'denied' };

type Command = Pick<Operation, 'operationId' | 'target'> & { readonly write: CommandWrite };

/** No conflict is one of them: a server that is too busy with one object to decide a patch has decided nothing. */
const lostRaces: readonly KubeErrorCode[] = ['already_exists', 'precondition_failed', 'not_found'];
const denials: readonly KubeErrorCode[] = ['unauthenticated', 'forbidden', 'storage_full'];

/**
 * Sends the conditional write of a command. It may be sent any number of times, by any process: exactly one passes, and
 * who does not finds out by the operation's id whether another one did (DESIGN section 9).
 * @throws KubeError where nobody knows whether it was written
 */
export async function sendWrite(
  client: Pick<KubeClient, 'get' | 'list' | 'create' | 'patch'>,
  command: Command,
): Promise<Sent> {
  try {
    const { uid, generation } = (await write(client, command)).metadata;
    return { kind: 'written', written: { uid, generation } };
  } catch (error) {
    if (isKubeError(error, 'invalid')) return { kind: 'refused', why: 'invalid' };
    if (isKubeError(error, ...denials)) return { kind: 'denied' };
    if (!isKubeError(error, ...lostRaces)) throw error;
    const written = await findWritten(client, command);
    if (written !== undefined) return { kind: 'written', written };
    return { kind: 'refused', why: isKubeError(error, 'not_found') ? 'gone' : 'changed' };
  }
}

function write(
  client: Pick<KubeClient, 'create' | 'patch'>,
  { operationId, target, write: wanted }: Command,
): Promise<Stored<GuardrailPolicy> | Stored<ModelBinding>> {
  switch (wanted.type) {
    case 'create_policy':
      return client.create<GuardrailPolicy>(kinds.guardrailPolicy, newPolicyObject(target.id, wanted.spec));
    case 'replace_policy':
      return client.patch<GuardrailPolicy>(kinds.guardrailPolicy, wanted.objectName, [
        ...testsOf(wanted),
        { op: 'replace', path: '/spec', value: wanted.spec },
      ]);
    case 'write_binding':
      return client.patch<ModelBinding>(kinds.modelBinding, wanted.objectName, [
        ...testsOf(wanted),
        { op: 'replace', path: '/spec/guardrail', value: wanted.guardrail },
        { op: 'replace', path: '/spec/contentProfile', value: wanted.contentProfile },
        { op: 'add', path: '/spec/apply', value: operationId },
      ]);
  }
}

function testsOf({
  uid,
  generation,
}: {
  readonly uid: string;
  readonly generation: number;
}): readonly JsonPatchOperation[] {
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path: '/metadata/generation', value: generation },
  ];
}
