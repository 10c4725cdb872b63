import { canonicalBytes } from '#contracts/canonical';
import type { Definition } from '#contracts/policy';
import type { PolicyTest } from '#resources/guardrail-policy';

/**
 * Largest size of definition and tests in a revision, bytes: the store of a cluster accepts objects of one and a half
 * mebibytes, and the remaining bytes are for names, description and metadata.
 */
export const maxStoredBytes = 1_300_000;

/** An API server stores each of these as an escape of six bytes. */
const storedAsEscapes = /[<>&\u2028\u2029]/g;

/** Whether a revision of a definition with its tests fits into the store. */
export function fitsIntoRevision(definition: Definition, tests: readonly PolicyTest[] = []): boolean {
  return storedBytes(canonicalBytes(definition).toString('utf8'), tests) <= maxStoredBytes;
}

/** The size of definition and tests in a store of a cluster, bytes: the definition is JSON inside of JSON. */
export function storedBytes(definition: string, tests: readonly PolicyTest[]): number {
  const kept = tests.length === 0 ? '' : JSON.stringify(tests);
  const text = `${JSON.stringify(definition)}${kept}`;
  return Buffer.byteLength(text.replaceAll(storedAsEscapes, '\\u0000'));
}
