import { isDeepStrictEqual } from 'node:util';
import { restoredUidMessage } from './admission-rules.ts';
import { identityProblems } from './identity.ts';
import { type Kind, kinds, restoredUidAnnotation } from './kinds.ts';
import type { Resource } from './metadata.ts';
import { isPurgeOf } from './purged-revision.ts';
import { validationRules } from './validation-rules.ts';

/** A forbidden change: `field` is a path such as `spec`. */
export type ImmutabilityProblem = { readonly field: string; readonly message: string };

const rulesByKind: ReadonlyMap<string, readonly { readonly at: string; readonly message: string }[]> = new Map(
  (Object.keys(kinds) as (keyof typeof kinds)[]).map((key) => [
    kinds[key].kind,
    validationRules[key].filter(({ rule }) => rule.startsWith('self == oldSelf')),
  ]),
);

/**
 * The forbidden changes of an update; empty if the update is allowed. The API server applies the same rules as CEL
 * (`validation-rules.ts`, and `admission-rules.ts` for the id and the UID of a restored Collection).
 */
export function immutabilityProblems(
  kind: Kind,
  before: Pick<Resource, 'metadata' | 'spec'>,
  after: Pick<Resource, 'metadata' | 'spec'>,
): readonly ImmutabilityProblem[] {
  const isPurge = kind.kind === kinds.policyRevision.kind && isPurgeOf(before.spec, after.spec);
  const frozen = (isPurge ? [] : (rulesByKind.get(kind.kind) ?? []))
    .filter(({ at }) => !isDeepStrictEqual(memberAt(before, at), memberAt(after, at)))
    .map(({ at, message }) => ({ field: at, message }));
  return [...frozen, ...identityProblems(before, after), ...restoredUidProblems(kind, before, after)];
}

function restoredUidProblems(
  kind: Kind,
  before: Pick<Resource, 'metadata'>,
  after: Pick<Resource, 'metadata'>,
): readonly ImmutabilityProblem[] {
  const [held, given] = [before, after].map(({ metadata }) => metadata.annotations?.[restoredUidAnnotation]);
  if (kind.kind !== kinds.collection.kind || held === given) return [];
  return [{ field: `metadata.annotations[${restoredUidAnnotation}]`, message: restoredUidMessage }];
}

function memberAt(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((value, name) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[name], object);
}
