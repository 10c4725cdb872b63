import { flowLimits } from '#contracts/flow-limits';
import type { JsonValue } from '#kit/json/json-value';
import { ExpressionFault } from './expression-fault.ts';

/**
 * The number of bytes of a value as JSON without escapes. Counting stops at the limit, because a value that refers to
 * one part many times may be far larger as JSON than in memory.
 * @param most the maximum number of bytes
 * @throws ExpressionFault output_invalid above the limits of bytes or depth
 */
export function measureValue(value: JsonValue, most: number): number {
  let bytes = 0;
  function add(count: number): void {
    bytes += count;
    if (bytes > most) throw new ExpressionFault('output_invalid', `more than ${most} bytes`);
  }
  function visit(part: JsonValue, depth: number): void {
    if (typeof part === 'string') {
      add(Buffer.byteLength(part) + 2);
      return;
    }
    if (part === null || typeof part !== 'object') {
      add(String(part).length);
      return;
    }
    if (depth > flowLimits.outputDepth) {
      throw new ExpressionFault('output_invalid', `nested deeper than ${flowLimits.outputDepth} levels`);
    }
    const members = Array.isArray(part) ? part : Object.values(part);
    add(2 + Math.max(0, members.length - 1));
    if (!Array.isArray(part)) for (const name of Object.keys(part)) add(Buffer.byteLength(name) + 3);
    for (const member of members) visit(member, depth + 1);
  }
  visit(value, 1);
  return bytes;
}
