import { openApiDocument, openApiPaths } from '#api/openapi';
import { callerDocument } from '#identity/caller-parameters';
import { memorySchemas } from './memory-schemas.ts';
import { memoryTable } from './memory-table.ts';

export const memoryOpenApiPath = '/openapi.json';

/** The OpenAPI document of the memory service. */
export function memoryDocument(): unknown {
  return openApiDocument({
    title: 'Memory',
    version: '1.0.0',
    summary: 'Facts about users, found again within a token budget, and states of sessions.',
    description:
      'The memories of a user are read, changed and deleted by that user only. Models are reached through the model gateway ' +
      'only.',
    server: 'The memory service.',
    tags: [
      { name: 'Health', description: 'The state of the dependencies.' },
      { name: 'Memories', description: 'Facts about the calling user, and the events that make them.' },
      { name: 'Sessions', description: 'States that expire.' },
      { name: 'Users', description: 'Export and erasure.' },
    ],
    paths: openApiPaths(memoryTable),
    ...callerDocument,
    schemas: memorySchemas(),
  });
}
