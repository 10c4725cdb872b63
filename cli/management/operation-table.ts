import type { ListedOperation } from '#contracts/operations';
import { authorText } from '../output/author-text.ts';
import { escapeLine, tableOf } from '../output/write.ts';
import type { NameOfTarget } from './target-names.ts';

/** Operations as a table; a wide table adds the ids of the object and of the trace. */
export function operationTable(operations: readonly ListedOperation[], nameOf: NameOfTarget, isWide: boolean): string {
  const head = ['ID', 'SENT', 'AUTHOR', 'COMMAND', 'OBJECT', 'STATE', 'MESSAGE'];
  const rows = operations.map((one) => [
    one.operationId,
    one.createdAt,
    authorText(one.author),
    one.kind,
    objectOf(one, nameOf),
    one.error === null ? one.state : `${one.state}: ${one.error.code}`,
    ...(isWide ? [one.target.id, one.error?.traceId ?? '-'] : []),
    one.message ?? '-',
  ]);
  const columns = isWide ? [...head.slice(0, -1), 'OBJECT ID', 'TRACE', 'MESSAGE'] : head;
  return tableOf([columns, ...rows.map((row) => row.map(escapeLine))]);
}

/** A caller that may not read all policies and models sees the name that the API gives. */
function objectOf({ target, targetName }: ListedOperation, nameOf: NameOfTarget): string {
  const name = nameOf(target.type, target.id);
  return `${target.type} ${name === target.id ? (targetName ?? name) : name}`;
}
