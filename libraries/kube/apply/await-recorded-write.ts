import { setTimeout as pause } from 'node:timers/promises';
import type { GuardrailPolicy } from '#resources/guardrail-policy';
import { kinds } from '#resources/kinds';
import type { Stored } from '#resources/metadata';
import type { KubeClient } from '../client/client.ts';

/** The longest wait for the record of a write, milliseconds: a replaced write without an operator is then lost. */
const longestMs = 5_000;
const everyMs = 25;

/**
 * Waits until the revision of the live generation is recorded, if its token names a write of the management API. Such a
 * token ends with the generation of the write, and the operator holds later edits only while they keep the token
 * (docs/design/revisions.md): a writer that replaces the token would overwrite a version that is not recorded yet.
 * @param policy the object that the caller is about to change
 * @param waitMs the longest wait in milliseconds; the caller then writes without the record
 */
export async function awaitRecordedWrite(
  client: Pick<KubeClient, 'get'>,
  policy: Stored<GuardrailPolicy>,
  waitMs = longestMs,
): Promise<void> {
  const { name, uid, generation } = policy.metadata;
  const written = Number(/\/([1-9]\d*)$/.exec(policy.spec.change ?? '')?.[1] ?? Number.POSITIVE_INFINITY);
  if (written > generation) return;
  const end = performance.now() + waitMs;
  for (let live: Stored<GuardrailPolicy> | undefined = policy; performance.now() < end; ) {
    if (live?.metadata.uid !== uid || live.metadata.generation !== generation || isRecorded(live)) return;
    await pause(everyMs);
    live = await client.get<GuardrailPolicy>(kinds.guardrailPolicy, name);
  }
}

/** Whether the operator has observed the generation and waits for no earlier write. */
function isRecorded({ metadata, status }: Stored<GuardrailPolicy>): boolean {
  const { observedGeneration = 0, conditions = [] } = status ?? {};
  return observedGeneration >= metadata.generation && !conditions.some(({ reason }) => reason === 'WaitingForRecord');
}
