import { sha256Hex } from '#contracts/canonical';
import { catalogueLimits } from '#contracts/catalogue';
import { catalogueTable } from '../../dataplane/catalogue/http/catalogue-table.ts';
import { catalogueDocuments } from '../../dataplane/catalogue/http/openapi-document.ts';
import { limitsText } from '../reference/limits-text.ts';
import { operationsPage } from '../reference/operations-page.ts';

/** The operations and the limits of the agent catalogue. */
export function generate(): ReadonlyMap<string, string> {
  const digests = Object.entries(catalogueDocuments()).map(
    ([path, document]) => `\`${path}\` has \`${sha256Hex(JSON.stringify(document))}\``,
  );
  const introduction =
    'The operations of the agent catalogue. `/api/v2` has the same operations as `/api/v1`. A request passes the gates of ' +
    'its operation in order, and the first one that fails answers; the codes are explained in [errors](errors.md). Limits, ' +
    `in bytes or seconds where the name says so and in entries or characters elsewhere: ${limitsText(catalogueLimits)}. OpenAPI documents are served without a token, and a client can pin their ` +
    `SHA-256: ${digests.join(', ')}.`;
  const operations = catalogueTable.operations.filter(({ path }) => !path.startsWith('/api/v2/'));
  const text = operationsPage('Catalogue API', introduction, { ...catalogueTable, operations });
  return new Map([['docs/reference/catalogue-api.md', text]]);
}
