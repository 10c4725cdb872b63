import type { Stage } from '#contracts/policy';
import type { ResponseMode } from '#contracts/profiles';
import type { FailedCheck } from './check-outcome.ts';
import type { CheckTarget } from './check-target.ts';
import type { CheckClient } from './client.ts';

/**
 * What a caller may do with its texts. `fields` holds the texts to go on with, under the caller's own names:
 * the original ones after a pass, the masked ones after a mask. After `deny` and `failed` there is nothing to go on with.
 */
export type FieldsOutcome =
  | { readonly kind: 'pass'; readonly fields: ReadonlyMap<string, string> }
  | { readonly kind: 'mask'; readonly fields: ReadonlyMap<string, string> }
  | { readonly kind: 'deny' }
  | FailedCheck;

export type GuardFieldsOptions = {
  /** The role of each message; it carries no meaning to the runtime (document 1, section 2.1). `user` when absent. */
  readonly role?: string;
  readonly mode?: ResponseMode;
  readonly signal?: AbortSignal;
};

/**
 * Judges named texts as one check. The table from position to name is fixed before the call and maps the result back
 * (document 1, section 4.6, step 1); names, identifiers and metadata of the caller never leave it.
 * No text at all fails with message_limit: a caller that found nothing to judge says so itself.
 */
export async function guardFields(
  client: CheckClient,
  target: CheckTarget,
  stage: Stage,
  fields: ReadonlyMap<string, string>,
  options: GuardFieldsOptions = {},
): Promise<FieldsOutcome> {
  const { role = 'user', ...checkOptions } = options;
  const table = [...fields];
  const outcome = await client.check(
    target,
    stage,
    table.map(([, content]) => ({ role, content })),
    checkOptions,
  );
  switch (outcome.kind) {
    case 'pass':
      return { kind: 'pass', fields: new Map(table) };
    case 'mask':
      return { kind: 'mask', fields: new Map(outcome.contents.map((content, at) => [nameAt(table, at), content])) };
    case 'deny':
    case 'failed':
      return outcome;
  }
}

function nameAt(table: readonly (readonly [string, string])[], position: number): string {
  const entry = table[position];
  if (entry === undefined) throw new Error('a mask has more contents than were sent');
  return entry[0];
}
