import type { AuditEntry, AuditState } from '#contracts/audit';
import type { NameOfTarget } from '../management/target-names.ts';
import { authorText } from '../output/author-text.ts';
import { tableOf } from '../output/write.ts';

/** Entries as a table; a wide one adds the id of the target, operation and trace. */
export function auditTable(entries: readonly AuditEntry[], nameOf: NameOfTarget, isWide: boolean): string {
  const head = ['TIME', 'AUTHOR', 'ACTION', 'OUTCOME', 'TARGET', 'BEFORE', 'AFTER'];
  const rows = entries.map(({ content }) => [
    content.time,
    authorText(content.author),
    content.action,
    outcomeOf(content),
    content.target === null ? '-' : `${content.target.type} ${nameOf(content.target.type, content.target.id)}`,
    stateText(content.before),
    stateText(content.after),
    ...(isWide ? [content.target?.id ?? '-', content.operationId ?? '-', content.traceId ?? '-', content.client] : []),
  ]);
  return tableOf([isWide ? [...head, 'TARGET ID', 'OPERATION', 'TRACE', 'CLIENT'] : head, ...rows]);
}

function outcomeOf({ outcome, code, count }: AuditEntry['content']): string {
  const why = code === null ? outcome : `${outcome}: ${code}`;
  return count === 1 ? why : `${why} (${count} times)`;
}

function stateText(state: AuditState | null): string {
  if (state === null) return '-';
  const revision = state.revision === null ? '' : `r${state.revision} `;
  return `${revision}${state.digest?.slice(0, 12) ?? ''}`.trim() || '-';
}
