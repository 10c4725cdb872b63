import type { CheckUnit } from './check-unit.ts';

/**
 * Splits the inputs of a request into checks within the limits. Inputs are judged independently, so they may go into
 * several checks. An input that exceeds the limit of a check gets a check of its own, which the runtime
 * refuses.
 */
export function batchUnits(
  units: readonly CheckUnit[],
  limits: { readonly maxMessages: number; readonly maxBodyBytes: number },
): readonly (readonly CheckUnit[])[] {
  const batches: CheckUnit[][] = [];
  let bytes = 0;
  for (const unit of units) {
    const size = Buffer.byteLength(JSON.stringify({ role: unit.role, content: unit.content })) + 1;
    const last = batches.at(-1);
    if (last === undefined || last.length >= limits.maxMessages || bytes + size > limits.maxBodyBytes) {
      batches.push([unit]);
      bytes = wrappingBytes + size;
    } else {
      last.push(unit);
      bytes += size;
    }
  }
  return batches;
}

/** Bytes that a check needs around its messages; each message after the first adds a comma. */
const wrappingBytes = Buffer.byteLength('{"body":{"messages":[]}}') - 1;
