import { memoryLimits } from '#contracts/memory';
import { memoryTable } from '../../dataplane/memory/http/memory-table.ts';
import { limitsText } from '../reference/limits-text.ts';
import { operationsPage } from '../reference/operations-page.ts';

/** The operations and the limits of the memory service. */
export function generate(): ReadonlyMap<string, string> {
  const introduction =
    'The operations of the memory service. A request passes the gates of its operation in order, and the first one ' +
    'that fails answers; the codes are explained in [errors](errors.md). Limits, in bytes where the name says so and in ' +
    `entries or characters elsewhere: ${limitsText(memoryLimits)}.`;
  return new Map([['docs/reference/memory-api.md', operationsPage('Memory API', introduction, memoryTable)]]);
}
