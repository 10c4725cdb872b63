import { retrievalLimits } from '#contracts/retrieval';
import { retrievalTable } from '../../dataplane/retrieval/http/retrieval-table.ts';
import { limitsText } from '../reference/limits-text.ts';
import { operationsPage } from '../reference/operations-page.ts';

/** The operations and the limits of the retrieval service. */
export function generate(): ReadonlyMap<string, string> {
  const introduction =
    'The operations of the retrieval service. A request passes the gates of its operation in order, and the first one ' +
    'that fails answers; the codes are explained in [errors](errors.md). Limits of bodies, in bytes where the name says ' +
    `so and in entries or characters elsewhere: ${limitsText(retrievalLimits)}.`;
  return new Map([['docs/reference/retrieval-api.md', operationsPage('Retrieval API', introduction, retrievalTable)]]);
}
