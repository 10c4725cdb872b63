import { fieldProblems, readShape } from '#contracts/read-shape';
import { metadataProblems } from '#kube/apply/metadata-problems';
import { sameJson } from '#kube/apply/same-json';
import type { FieldProblem } from '#kube/client/kube-error';
import { identityProblems } from '#resources/identity';
import { immutabilityProblems } from '#resources/immutability';
import type { Kind } from '#resources/kinds';
import type { Resource, Stored } from '#resources/metadata';
import { schemaOf } from '#resources/schemas';
import { invalid } from './api-refusal.ts';

/**
 * Refuses an object that the schema of its kind does not allow; the refusal lists every problem. Only changed fields of
 * an update are validated, so that an object of an older release can still lose its finalizer.
 */
export function validateObject(kind: Kind, next: unknown, before?: Stored<Resource>): asserts next is Resource {
  const read = readShape(schemaOf(kind), next);
  const shape = read.ok ? [] : fieldProblems(read.problems);
  const object = next as Resource;
  const problems = [
    ...shape.filter(({ field }) => before === undefined || !isUnchanged(field, before, object)),
    ...(shape.some(({ field }) => field === '' || field.startsWith('metadata'))
      ? []
      : metadataProblems(object.metadata)),
    ...(shape.length > 0 ? [] : changeProblems(kind, before, object)),
    ...(before === undefined ? [] : finalizerProblems(before, object)),
  ];
  if (problems.length > 0) throw invalid(kind, nameOf(next), problems);
}

function changeProblems(kind: Kind, before: Resource | undefined, after: Resource): readonly FieldProblem[] {
  return before === undefined ? identityProblems(undefined, after) : immutabilityProblems(kind, before, after);
}

function isUnchanged(field: string, before: Resource, after: Resource): boolean {
  if (/^spec\b/.test(field)) return sameJson(before.spec, after.spec);
  if (/^status\b/.test(field)) return sameJson(before.status, after.status);
  return false;
}

/** While an object is being deleted, finalizers can be removed but not added. */
function finalizerProblems(before: Resource, after: Resource): readonly FieldProblem[] {
  if (before.metadata.deletionTimestamp === undefined || !Array.isArray(after.metadata.finalizers)) return [];
  const added = after.metadata.finalizers.filter((one) => !before.metadata.finalizers?.includes(one));
  if (added.length === 0) return [];
  return [{ field: 'metadata.finalizers', message: 'no new finalizers can be added if the object is being deleted' }];
}

function nameOf(value: unknown): string {
  const name = (value as { metadata?: { name?: unknown } } | null)?.metadata?.name;
  return typeof name === 'string' ? name : '';
}
