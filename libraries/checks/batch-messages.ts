import type { CheckMessage } from '#contracts/checks';

/**
 * Splits messages into checks within the limits. The messages are judged independently, so they may go into several
 * checks. A message that exceeds the limit of a check gets a check of its own, which the runtime refuses.
 */
export function batchMessages<M extends CheckMessage>(
  messages: readonly M[],
  limits: { readonly maxMessages: number; readonly maxBodyBytes: number },
): readonly (readonly M[])[] {
  const batches: M[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = messageBytes(message);
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

/** The size of a check of this message alone, in bytes. */
export function checkBytes(message: CheckMessage): number {
  return wrappingBytes + messageBytes(message);
}

/** Bytes that a check needs around its messages; each message after the first adds a comma. */
const wrappingBytes = Buffer.byteLength('{"body":{"messages":[]}}') - 1;

function messageBytes({ role, content }: CheckMessage): number {
  return Buffer.byteLength(JSON.stringify({ role, content })) + 1;
}
