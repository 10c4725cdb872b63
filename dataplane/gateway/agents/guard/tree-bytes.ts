import type { JsonValue } from '#kit/json/json-value';

/** Reserves bytes of the memory of the gateway; false if they are not free in time. */
export type Hold = (bytes: number) => boolean | Promise<boolean>;

/** Maximum number of values of one message that is judged. */
export const mostMessageValues = 32_768;

/**
 * Maximum number of values of one message that is not judged, as in the process of a flow. The memory of its values is
 * not counted: its tree is dropped once it was read, or once it was written without the members that detach a run.
 */
export const mostUnjudgedValues = 100_000;

/**
 * Memory of one value of a message in bytes, in addition to its characters, including its entry in the list of texts to
 * judge.
 */
const bytesPerValue = 256;

/** Bytes of memory that the values of a message need in addition to their characters. */
export function treeBytes(value: JsonValue): number {
  return countValues(value) * bytesPerValue;
}

function countValues(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member) => sum + countValues(member), 1);
}
