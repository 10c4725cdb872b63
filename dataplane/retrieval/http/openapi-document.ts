import { openApiDocument, openApiPaths } from '#api/openapi';
import { callerDocument } from '#identity/caller-parameters';
import { retrievalSchemas } from './retrieval-schemas.ts';
import { retrievalTable } from './retrieval-table.ts';

export const openApiPath = '/openapi.json';

/** The OpenAPI document of the retrieval service. */
export function retrievalDocument(): unknown {
  return openApiDocument({
    title: 'Knowledge retrieval',
    version: '1.0.0',
    summary: 'Collections, ingestion of documents, and search with the rights of the user.',
    description:
      'Every search is filtered by the tenant and by the rights of the calling user, which are checked at each request. ' +
      'Models are reached through the model gateway only.',
    server: 'The retrieval service.',
    tags: [
      { name: 'Collections', description: 'Documents that are searched together.' },
      { name: 'Documents', description: 'Submitting documents, and the jobs that index them.' },
      { name: 'Health', description: 'The state of the dependencies.' },
      { name: 'Rights', description: 'Readers and writers of collections, and members of groups.' },
      { name: 'Search', description: 'Citations and packed contexts.' },
    ],
    paths: openApiPaths(retrievalTable),
    ...callerDocument,
    schemas: retrievalSchemas(),
  });
}
