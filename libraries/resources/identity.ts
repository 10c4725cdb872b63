import { idChangeMessage, idFormMessage, idPattern } from './admission-rules.ts';
import type { ImmutabilityProblem } from './immutability.ts';
import { idLabel } from './kinds.ts';
import type { Resource } from './metadata.ts';

const field = `metadata.labels[${idLabel}]`;

/**
 * Violations of the rules of the id label: it has the form of `idPattern`, and is never changed or removed. An object that
 * was stored with another form keeps it. The API server applies the same rules (`admission-rules.ts`).
 */
export function identityProblems(
  before: Pick<Resource, 'metadata'> | undefined,
  after: Pick<Resource, 'metadata'>,
): readonly ImmutabilityProblem[] {
  const held = before?.metadata.labels?.[idLabel];
  const given = after.metadata.labels?.[idLabel];
  if (held !== undefined) return given === held ? [] : [{ field, message: idChangeMessage }];
  return given === undefined || idPattern.test(given) ? [] : [{ field, message: idFormMessage }];
}
