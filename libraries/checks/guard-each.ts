import type { Stage } from '#contracts/policy';
import { createSemaphore } from '#kit/concurrency/semaphore';
import type { CheckTarget } from './check-target.ts';
import type { CheckClient } from './client.ts';
import { type FieldsOutcome, type GuardFieldsOptions, guardFields } from './guard-fields.ts';

/**
 * Judges documents independently: one check for each, because a check judges its whole message set
 * (`guardrail:execution:whole-set-judged`), with at most `concurrency` checks at a time. So far only tests call it; the
 * retrieval and memory services will.
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
