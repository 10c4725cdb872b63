import type { Stage } from '#contracts/policy';
import { createSemaphore } from '#kit/concurrency/semaphore';
import type { CheckTarget } from './check-target.ts';
import type { CheckClient } from './client.ts';
import { type FieldsOutcome, type GuardFieldsOptions, guardFields } from './guard-fields.ts';

/**
 * Judges documents independently: one check for each, since one check judges its whole message set
 * (document 1, section 2.7, rule 8), with at most `concurrency` of them at a time.
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
