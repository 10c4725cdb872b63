import { CliError } from '../errors/cli-error.ts';
import { ServiceApiError } from '../http/service-error.ts';

/** What one object of a command was changed to, or why it was not changed. */
type Change<T> = { readonly id: string } & ({ readonly value: T } | { readonly reason: string });

/** One entry for each object in their order, and the error that ended the command before all were sent. */
type Changes<T> = { readonly changes: readonly Change<T>[]; readonly failure?: unknown };

/**
 * Sends one request for each object. A refused object does not keep the others from being changed; every other error ends the
 * command, and what was changed before is kept.
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
      changes.push({ id, reason: reasonOf(failure, done) });
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

/** Whether the service refused this object, so that the next one can be changed. */
function isOfOneObject(error: unknown): boolean {
  return error instanceof ServiceApiError && (error.status === 400 || error.status === 404 || error.status === 409);
}

function reasonOf(error: unknown, done: string): string {
  if (error instanceof ServiceApiError) return error.message;
  return `the connection was lost, and it may be ${done}: repeat the command`;
}
