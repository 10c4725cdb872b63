import { isDeepStrictEqual } from 'node:util';
import { idLabel, type Kind, kinds } from './kinds.ts';
import type { Resource } from './metadata.ts';

/** What an update must not do: `field` is a path such as `spec`. */
export type ImmutabilityProblem = { readonly field: string; readonly message: string };

/** Kinds whose spec never changes after the object was created. */
const immutableSpecs: readonly Kind[] = [kinds.policyRevision];

/**
 * The rules on updates that need the object before and after; the API server holds the same ones as CEL
 * (`self == oldSelf` on the spec; a ValidatingAdmissionPolicy for the label). Empty when the update is allowed.
 */
export function immutabilityProblems(
  kind: Kind,
  before: Pick<Resource, 'metadata' | 'spec'>,
  after: Pick<Resource, 'metadata' | 'spec'>,
): readonly ImmutabilityProblem[] {
  const problems: ImmutabilityProblem[] = [];
  const frozen = immutableSpecs.some((one) => one.kind === kind.kind);
  if (frozen && !isDeepStrictEqual(before.spec, after.spec)) {
    problems.push({ field: 'spec', message: `the spec of a ${kind.kind} never changes` });
  }
  const id = before.metadata.labels?.[idLabel];
  if (id !== undefined && after.metadata.labels?.[idLabel] !== id) {
    problems.push({ field: `metadata.labels[${idLabel}]`, message: 'the id is set once and never changes' });
  }
  return problems;
}
