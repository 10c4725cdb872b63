import type { Resource } from '#resources/metadata';
import { findKind } from '#resources/schemas';
import { ApiRefusal } from '../../operator/folder-api/api-refusal.ts';
import { validateObject } from '../../operator/folder-api/validate-object.ts';

/** Error of the TypeScript validation for a new object, as in the standalone server; undefined when valid. */
export function judgeOurselves(object: Resource): string | undefined {
  const kind = findKind(object.kind)?.kind;
  if (kind === undefined) throw new TypeError(`there is no kind ${object.kind}`);
  try {
    validateObject(kind, object);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiRefusal)) throw error;
    return error.message;
  }
}
