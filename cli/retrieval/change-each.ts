import { CliError } from '../errors/cli-error.ts';
import { ServiceApiError } from '../http/service-error.ts';

/**
 * The reason why an object was not changed. `isUnknown`: the request got no answer, so that the object may have been
 * changed.
 */
type Unchanged = { readonly reason: string; readonly isUnknown?: true };

/** The result of the change of one object of a command, or the reason why it was not changed. */
type Change<T> = { readonly id: string } & ({ readonly value: T } | Unchanged);

/** One entry for each object in their order, and the error that ended the command before all requests were sent. */
type Changes<T> = { readonly changes: readonly Change<T>[]; readonly failure?: unknown };

/**
 * Sends one request for each object. If one object is refused, the others are still changed; any other error ends the
 * command, and earlier changes are kept.
 * @param done what the request does, such as `deleted`
 * @throws the error of the request if there is one object only
 */
export async function changeEach<T>(
  ids: readonly string[],
  done: string,
  change: (id: string) => Promise<T>,
): Promise<Changes<T>> {
  const changes: Change<T>[] = [];
  for (const id of ids) {
    try {
      changes.push({ id, value: await change(id) });
    } catch (failure) {
      if (ids.length === 1) throw failure;
      changes.push({ id, ...unchangedBy(failure, done) });
      if (isOfOneObject(failure)) continue;
      const rest = ids.slice(changes.length);
      changes.push(...rest.map((one) => ({ id: one, reason: 'it was not sent' })));
      return { changes, failure };
    }
  }
  return { changes };
}

/** @throws the error that ended the command; CliError failed if an object was refused */
export function refuseUnchanged({ changes, failure }: Changes<unknown>, sentence: string): void {
  if (failure !== undefined) throw failure;
  const refused = changes.filter((one) => 'reason' in one).length;
  if (refused > 0) throw new CliError('failed', `${refused} of ${changes.length} ${sentence}.`);
}

/**
 * The sentence about an object that was not changed, or may not have been changed.
 * @param object the object in a sentence, such as `document a` @param done what the request does, such as `deleted`
 * @param kept the sentence about an object that is not changed, without its reason
 */
export function unchangedSentence(
  { reason, isUnknown }: Unchanged,
  { object, done, kept }: { readonly object: string; readonly done: string; readonly kept: string },
): string {
  if (isUnknown === true)
    return `It is unknown whether ${object} is ${done}: the connection was lost. Repeat the command.`;
  return `${kept}: ${reason.replace(/\.$/, '')}.`;
}

/** Whether the service refused only this object, so that the next object can be changed. */
function isOfOneObject(error: unknown): boolean {
  return error instanceof ServiceApiError && (error.status === 400 || error.status === 404 || error.status === 409);
}

function unchangedBy(error: unknown, done: string): Unchanged {
  if (error instanceof ServiceApiError) return { reason: error.message };
  return { reason: `the connection was lost, and it may be ${done}: repeat the command`, isUnknown: true };
}
