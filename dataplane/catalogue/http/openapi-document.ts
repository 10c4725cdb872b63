import { openApiDocument, openApiPaths } from '#api/openapi';
import { type ApiVersion, apiVersions } from './catalogue.ts';
import { catalogueSchemas } from './catalogue-schemas.ts';
import { catalogueTable } from './catalogue-table.ts';

/** The release that each version of the API belongs to (`catalogue:version:release`, `catalogue:version:later-plan`). */
const releases = { v1: '2026.3.3', v2: '2026.3.5' } as const satisfies Record<ApiVersion, string>;

/** The OpenAPI document of one version of the API (`catalogue:version:openapi`). */
function catalogueDocument(version: ApiVersion): unknown {
  const others = apiVersions.filter((one) => one !== version).map((one) => `/api/${one}/`);
  const operations = catalogueTable.operations.filter(({ path }) => !others.some((other) => path.startsWith(other)));
  return openApiDocument({
    openapi: '3.1.2',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Agent catalogue',
    version: '0.1-draft',
    extensions: { 'x-state': 'proposed', 'x-release': releases[version] },
    summary: 'The agents that the caller may see.',
    description:
      'Reads agents with the rights of the caller at that moment. The catalogue never creates, changes, deletes, deploys or ' +
      'calls an agent; calls go to the agent gateway.',
    server: 'The agent catalogue.',
    tags: [
      { name: 'Agents', description: 'Agents that the caller may see.' },
      { name: 'Health', description: 'The state of the process.' },
    ],
    paths: openApiPaths({ ...catalogueTable, operations }),
    token: 'A token of a trusted issuer; a chain of actors (RFC 8693) takes rights away. Not read in development mode.',
    schemas: catalogueSchemas(),
  });
}

/** The paths at which the documents are served without a token. */
export function catalogueDocuments(): Readonly<Record<string, unknown>> {
  return Object.fromEntries(apiVersions.map((version) => [`/api/${version}/openapi.json`, catalogueDocument(version)]));
}
