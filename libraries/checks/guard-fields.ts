import type { Stage } from '#contracts/policy';
import type { ResponseMode } from '#contracts/profiles';
import { createSemaphore } from '#kit/concurrency/semaphore';
import type { FailedCheck } from './check-outcome.ts';
import type { CheckTarget } from './check-target.ts';
import type { CheckClient } from './client.ts';

/**
 * The decision about the texts of a caller. `fields` has the texts that the caller may use, under its own names: the
 * originals after a pass, the masked ones after a mask. After `deny` and `failed` it may use none.
 */
export type FieldsOutcome =
  | { readonly kind: 'pass'; readonly fields: ReadonlyMap<string, string> }
  | { readonly kind: 'mask'; readonly fields: ReadonlyMap<string, string> }
  | { readonly kind: 'deny' }
  | FailedCheck;

type GuardFieldsOptions = {
  /** The role of each message, which has no meaning for the runtime. `user` when absent. */
  readonly role?: string;
  readonly mode?: ResponseMode;
  readonly signal?: AbortSignal;
};

/**
 * Judges named texts as one check. The table from position to name is fixed before the call and maps the result back;
 * names, identifiers and metadata of the caller are not sent. An empty map fails with message_limit: a caller without
 * texts must handle that case itself. So far only tests call it.
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
  if (entry === undefined) throw new Error('the mask of a check has more contents than the check had messages');
  return entry[0];
}

/**
 * Judges documents independently: one check for each, because a check judges its whole message set
 * (`guardrail:execution:whole-set-judged`), with at most `concurrency` checks at a time. So far only tests call it.
 * @returns an outcome under the name of every document, in their order
 */
export async function guardEach(
  client: CheckClient,
  target: CheckTarget,
  stage: Stage,
  documents: ReadonlyMap<string, ReadonlyMap<string, string>>,
  options: GuardFieldsOptions & { readonly concurrency: number },
): Promise<ReadonlyMap<string, FieldsOutcome>> {
  const { concurrency, ...fieldOptions } = options;
  const places = createSemaphore(concurrency);
  const never = new AbortController().signal;
  const judged = [...documents].map(async ([name, fields]): Promise<[string, FieldsOutcome]> => {
    const release = places.tryAcquire() ?? (await places.acquire(never));
    try {
      return [name, await guardFields(client, target, stage, fields, fieldOptions)];
    } finally {
      release();
    }
  });
  return new Map(await Promise.all(judged));
}
