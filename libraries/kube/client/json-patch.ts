/** An operation of RFC 6902; `move` and `copy` are not used by any writer of ours. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** One member name as a segment of a JSON Pointer (RFC 6901, section 3). */
export function pointerSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
