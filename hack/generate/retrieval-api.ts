import { retrievalLimits } from '#contracts/retrieval';
import { retrievalTable } from '../../dataplane/retrieval/http/retrieval-table.ts';
import { operationsPage } from '../reference/operations-page.ts';

/** The operations and the limits of the retrieval service. */
export function generate(): ReadonlyMap<string, string> {
  const limits = Object.entries(retrievalLimits).map(([name, value]) => `\`${name}\` ${textOf(value)}`);
  const introduction =
    'The operations of the retrieval service. A request passes the gates of its operation in order, and the first one ' +
    'that fails answers; the codes are explained in [errors](errors.md). Limits of bodies, in bytes where the name says ' +
    `so and in entries or characters elsewhere: ${limits.join(', ')}.`;
  return new Map([['docs/reference/retrieval-api.md', operationsPage('Retrieval API', introduction, retrievalTable)]]);
}

function textOf(value: number | Readonly<Record<string, number>>): string {
  if (typeof value === 'number') return String(value);
  const { min, max, default: without } = value;
  const range = max === undefined ? `from ${min}` : `${min} to ${max}`;
  return without === undefined ? range : `${range} (${without} without it)`;
}
