import { CliError } from '../errors/cli-error.ts';
import { ServiceApiError } from '../http/service-error.ts';
import type { Format } from '../output/format.ts';
import { writeNamed } from '../output/write-named.ts';
import type { MemoryClient } from './memory-client.ts';

/**
 * Deletes memories one after another. After an unknown id the other memories are still deleted; results before an error
 * are written.
 * @throws CliError not_found, the errors of the client
 */
export async function deleteByIds(
  client: Pick<MemoryClient, 'delete'>,
  ids: readonly string[],
  format: Format,
): Promise<void> {
  const items: { readonly id: string }[] = [];
  const unknown: string[] = [];
  try {
    for (const id of ids) {
      const deleted = await client.delete(id).catch(unlessNotFound);
      if (deleted === undefined) unknown.push(id);
      else items.push(deleted);
    }
  } finally {
    const ids = items.map(({ id }) => id);
    const text = (): string => ids.map((id) => `Memory ${id} deleted.`).join('\n');
    if (ids.length > 0) writeNamed(format, { value: { items }, names: ids, text });
  }
  if (unknown.length > 0) throw new CliError('not_found', `The caller has no memory ${unknown.join(', ')}.`);
}

function unlessNotFound(error: unknown): undefined {
  if (error instanceof ServiceApiError && error.status === 404) return undefined;
  throw error;
}
