import type { CheckMessage } from '#contracts/checks';
import type { Stage } from '#contracts/policy';

/**
 * Splits messages into checks within the limits. The messages are judged independently, so they may go into several
 * checks. A message that exceeds the limit of a check gets its own check, which the runtime refuses.
 */
export function batchMessages<M extends CheckMessage>(
  messages: readonly M[],
  limits: { readonly maxMessages: number; readonly maxBodyBytes: number },
  stage: Stage = 'request',
): readonly (readonly M[])[] {
  const batches: M[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = messageBytes(message, stage);
    const last = batches.at(-1);
    if (last === undefined || last.length >= limits.maxMessages || bytes + size > limits.maxBodyBytes) {
      batches.push([message]);
      bytes = wrappingBytes + size;
    } else {
      last.push(message);
      bytes += size;
    }
  }
  return batches;
}

/** The size of a check with this message alone, in bytes. */
export function checkBytes(message: CheckMessage, stage: Stage = 'request'): number {
  return wrappingBytes + messageBytes(message, stage);
}

/** The number of messages that one check of all given texts would have, and its size in bytes. */
export function checksSize(
  messages: readonly CheckMessage[],
  stage: Stage,
): { readonly messages: number; readonly bytes: number } {
  return {
    messages: messages.length,
    bytes: messages.reduce((bytes, message) => bytes + messageBytes(message, stage), wrappingBytes),
  };
}

/** Bytes that a check needs around its messages; each message after the first adds a comma. */
const wrappingBytes = Buffer.byteLength('{"body":{"messages":[]}}') - 1;
/** In a check of an answer, each message is a member of an answer variant. */
const variantBytes = Buffer.byteLength('{"message":}');

function messageBytes({ role, content }: CheckMessage, stage: Stage): number {
  return Buffer.byteLength(JSON.stringify({ role, content })) + 1 + (stage === 'response' ? variantBytes : 0);
}
