import { patchAnnotated } from '#kube/apply/patch-annotated';
import { withoutConfirmation } from '#kube/apply/without-confirmation';
import type { JsonPatchOperation, KubeClient } from '#kube/client/client';
import { isKubeError, type KubeErrorCode } from '#kube/client/kube-error';
import { changeNoteAnnotation, writeChangeNote } from '#resources/change-note';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { confirmUnguardedAnnotation, keepAnnotation, kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { ModelBinding } from '#resources/model-binding';
import { confirmationOf } from '#resources/protection';
import { newPolicyObject } from '../policies/make-policy.ts';
import type { CommandRecord, CommandWrite, WrittenGeneration } from './command-record.ts';
import { findWritten } from './find-written.ts';

/** The result of sending a write. */
export type WriteResult =
  | { readonly kind: 'written'; readonly written: WrittenGeneration }
  /** The command wrote nothing, and the precondition of its write can never be true again. */
  | { readonly kind: 'refused'; readonly why: 'changed' | 'gone' | 'invalid' }
  /** The command wrote nothing: the server refuses writes of this process. */
  | { readonly kind: 'denied'; readonly code: KubeErrorCode }
  /** A write was not sent, because the lease of the command ends before the request would. */
  | { readonly kind: 'late' };

/** The connection of a command to its resource, with the lease in which it may be changed. */
type LeasedClient = {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'create' | 'patch'>;
  /** Whether a request that is sent now ends within the lease, even if it times out. */
  readonly isLeased: () => boolean;
};

class LeaseEndedError extends Error {
  override readonly name = 'LeaseEndedError';
}

type Command = Pick<CommandRecord, 'operationId' | 'target'> & { readonly write: CommandWrite };

/**
 * The code `conflict` is not in this list: a server that is too busy with an object to decide about a patch has decided
 * nothing.
 */
const lostRaces: readonly KubeErrorCode[] = ['already_exists', 'precondition_failed', 'not_found'];
/** The server refuses writes of this process: nothing was written. */
export const denials: readonly KubeErrorCode[] = ['unauthenticated', 'forbidden', 'storage_full'];

/**
 * Sends the conditional write of a command. Any process may send it any number of times: exactly one write succeeds,
 * and the other attempts find out by the operation id whether it did. Each request that changes the resource is sent
 * within the lease.
 * @throws KubeError if it is not known whether the write succeeded
 */
export async function sendWrite({ client, isLeased }: LeasedClient, command: Command): Promise<WriteResult> {
  try {
    const { uid, generation } = (await write(whileLeased(client, isLeased), command)).metadata;
    return { kind: 'written', written: { uid, generation } };
  } catch (error) {
    if (error instanceof LeaseEndedError) return { kind: 'late' };
    if (isKubeError(error, 'invalid')) return { kind: 'refused', why: 'invalid' };
    if (isKubeError(error, ...denials)) return { kind: 'denied', code: error.code };
    if (!isKubeError(error, ...lostRaces)) throw error;
    const written = await findWritten(client, command);
    if (written !== undefined) return { kind: 'written', written };
    return { kind: 'refused', why: isKubeError(error, 'not_found') ? 'gone' : 'changed' };
  }
}

function whileLeased(
  client: LeasedClient['client'],
  isLeased: () => boolean,
): Pick<KubeClient, 'get' | 'create' | 'patch'> {
  function guard<A extends readonly unknown[], T>(change: (...args: A) => Promise<T>): (...args: A) => Promise<T> {
    return (...args) => (isLeased() ? change(...args) : Promise.reject(new LeaseEndedError()));
  }
  return {
    get: (kind, name) => client.get(kind, name),
    create: guard(client.create) as KubeClient['create'],
    patch: guard(client.patch) as KubeClient['patch'],
  };
}

function write(
  client: Pick<KubeClient, 'get' | 'create' | 'patch'>,
  { operationId, target, write: wanted }: Command,
): Promise<Stored<GuardrailPolicy> | Stored<ModelBinding>> {
  switch (wanted.type) {
    case 'create_policy':
      return client.create<GuardrailPolicy>(
        kinds.guardrailPolicy,
        newPolicyObject({ id: target.id, name: wanted.objectName }, wanted.spec, wanted.note),
      );
    case 'replace_policy':
      return patchAnnotated(
        client,
        kinds.guardrailPolicy,
        wanted.objectName,
        {
          ...annotationsOf(wanted, wanted.spec.change ?? ''),
          ...(wanted.keep === undefined ? {} : { [keepAnnotation]: wanted.keep }),
        },
        [...testsOf(wanted), { op: 'replace', path: '/spec', value: wanted.spec }],
      );
    case 'write_binding':
      return writeBinding(client, operationId, wanted);
  }
}

/** An unbind is an explicit command of the API, which confirms itself. */
async function writeBinding(
  client: Pick<KubeClient, 'get' | 'patch'>,
  operationId: string,
  wanted: CommandWrite & { readonly type: 'write_binding' },
): Promise<Stored<ModelBinding>> {
  const { objectName, guardrail, contentProfile } = wanted;
  const confirmation = guardrail.mode === 'None' ? { [confirmUnguardedAnnotation]: confirmationOf(wanted) } : {};
  const annotations = { ...annotationsOf(wanted, operationId), ...confirmation };
  const live = guardrail.mode === 'None' ? await client.get<ModelBinding>(kinds.modelBinding, objectName) : undefined;
  const isRead = live?.metadata.uid === wanted.uid && live.metadata.generation === wanted.generation;
  if (isRead) await withoutConfirmation(client, kinds.modelBinding, live);
  return patchAnnotated(client, kinds.modelBinding, objectName, annotations, [
    ...testsOf(wanted),
    { op: 'replace', path: '/spec/guardrail', value: guardrail },
    { op: 'replace', path: '/spec/contentProfile', value: contentProfile },
    { op: 'add', path: '/spec/apply', value: operationId },
  ]);
}

function annotationsOf({ note }: CommandWrite, token: string): Readonly<Record<string, string>> {
  return note === undefined ? {} : { [changeNoteAnnotation]: writeChangeNote(token, note) };
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
