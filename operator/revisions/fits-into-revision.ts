import { canonicalBytes } from '#contracts/canonical';
import type { Definition } from '#contracts/policy';
import type { PolicyTest } from '#resources/guardrail-policy';

/**
 * Largest size of definition and tests in a revision, bytes: the store of a cluster accepts objects of one
 * and a half mebibytes, of which names, description and metadata are the rest.
 */
export const maxStoredBytes = 1_300_000;

/** An API server stores each of these as an escape of six bytes. */
const storedAsEscapes = /[<>&\u2028\u2029]/g;

/** Whether a revision of such a definition can be stored, with its tests. */
export function fitsIntoRevision(definition: Definition, tests: readonly PolicyTest[] = []): boolean {
  return storedBytes(canonicalBytes(definition).toString('utf8'), tests) <= maxStoredBytes;
}

/** The size of definition and tests in a store of a cluster, bytes: the definition is JSON inside of JSON. */
export function storedBytes(definition: string, tests: readonly PolicyTest[]): number {
  const kept = tests.length === 0 ? '' : JSON.stringify(tests);
  const text = `${JSON.stringify(definition)}${kept}`;
  return Buffer.byteLength(text.replaceAll(storedAsEscapes, '\\u0000'));
}
