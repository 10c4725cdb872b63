/** An operation of RFC 6902, without `move` and `copy`, which no caller needs. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/** A member name, escaped as a segment of a JSON Pointer (RFC 6901 §3). */
export function pointerSegment(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
