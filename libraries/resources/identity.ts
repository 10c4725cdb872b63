import { idChangeMessage, idFormMessage, idPattern } from './admission-rules.ts';
import type { ImmutabilityProblem } from './immutability.ts';
import { idLabel } from './kinds.ts';
import type { Resource } from './metadata.ts';

const field = `metadata.labels[${idLabel}]`;

/**
 * What a write must not do with the id of the management API: give it another form, change it, or take it away.
 * An object that was stored with another form keeps it. The API server asks the same (`admission-rules.ts`).
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
