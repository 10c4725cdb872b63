import { z } from 'zod';
import { SearchUnavailableError } from '../../search-error.ts';
import { connectionLimits } from './connect-opensearch.ts';
import { type IndexPlace, indexBehind, indexDefinition } from './index-layout.ts';
import type { WriteTarget } from './write-documents.ts';

const refusal = z.object({ error: z.object({ type: z.string() }) });

/** Creates the index of a place if it does not exist. @throws SearchUnavailableError if another object has its name */
export async function createIndex({ connection, alias }: WriteTarget, place: IndexPlace): Promise<void> {
  const { status, body } = await connection.ask({
    method: 'PUT',
    path: `/${indexBehind(alias)}`,
    body: indexDefinition(place),
    timeoutMs: connectionLimits.writeMs,
  });
  if (status === 200) return;
  const found = refusal.safeParse(body);
  if (found.success && found.data.error.type === 'resource_already_exists_exception') return;
  throw new SearchUnavailableError('absent', new Error(`OpenSearch: status ${status} of a new index`));
}
