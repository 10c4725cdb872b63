import { openApiPaths } from '#api/openapi';
import { retrievalSchemas } from './retrieval-schemas.ts';
import { retrievalTable } from './retrieval-table.ts';

export const openApiPath = '/openapi.json';

/** The OpenAPI document of the retrieval service. */
export function retrievalDocument(): unknown {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Knowledge retrieval',
      version: '1.0.0',
      summary: 'Collections, ingestion of documents, and search with the rights of the user.',
      description:
        'Every search is filtered by the tenant and by the rights of the calling user, which are asked at each request. ' +
        'Models are reached through the model gateway only.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The retrieval service.' }],
    tags: [
      { name: 'Collections', description: 'Documents that are searched together.' },
      { name: 'Documents', description: 'Submitting documents, and the jobs that index them.' },
      { name: 'Health', description: 'The state of the dependencies.' },
      { name: 'Rights', description: 'Who may read and write, and who is in a group.' },
      { name: 'Search', description: 'Citations and packed contexts.' },
    ],
    security: [{ platformToken: [] }],
    paths: openApiPaths(retrievalTable),
    components: {
      securitySchemes: {
        platformToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A token of a trusted issuer with an act chain (RFC 8693). Not read in development mode.',
        },
      },
      headers: {
        traceparent: { description: 'The trace of the request (W3C Trace Context).', schema: { type: 'string' } },
        'X-Trace-Id': { description: 'The trace id of the request.', schema: { type: 'string' } },
      },
      schemas: retrievalSchemas(),
    },
  };
}
