import { servedTable } from '../../operator/management/http/served-table.ts';
import { operationsPage } from '../reference/operations-page.ts';

/** The operations of the management API. */
export function generate(): ReadonlyMap<string, string> {
  const introduction =
    'The operations of the policy management API. A request passes the gates of its operation in order, and the first ' +
    'one that fails answers; the codes are explained in [errors](errors.md).';
  return new Map([['docs/reference/management-api.md', operationsPage('Management API', introduction, servedTable)]]);
}
