import type { ListedOperation } from '#contracts/operations';
import { authorText } from '../output/author-text.ts';
import { escapeLine, tableOf } from '../output/write.ts';

/** Operations as a table; a wide one adds the ids of the object and of the trace. */
export function operationTable(operations: readonly ListedOperation[], isWide: boolean): string {
  const head = ['ID', 'SENT', 'AUTHOR', 'COMMAND', 'OBJECT', 'STATE', 'MESSAGE'];
  const rows = operations.map((one) => [
    one.operationId,
    one.createdAt,
    authorText(one.author),
    one.kind,
    `${one.target.type} ${one.targetName ?? one.target.id}`,
    one.error === null ? one.state : `${one.state}: ${one.error.code}`,
    ...(isWide ? [one.target.id, one.error?.traceId ?? '-'] : []),
    one.message ?? '-',
  ]);
  const columns = isWide ? [...head.slice(0, -1), 'OBJECT ID', 'TRACE', 'MESSAGE'] : head;
  return tableOf([columns, ...rows.map((row) => row.map(escapeLine))]);
}
