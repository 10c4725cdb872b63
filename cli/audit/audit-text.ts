import type { AuditAuthor, AuditEntry, AuditState } from '#contracts/audit';
import { tableOf } from '../output/write.ts';

/** Entries as a table; a wide one adds operation and trace. */
export function auditTable(entries: readonly AuditEntry[], isWide: boolean): string {
  const head = ['TIME', 'AUTHOR', 'ACTION', 'OUTCOME', 'TARGET', 'BEFORE', 'AFTER'];
  const rows = entries.map(({ content }) => [
    content.time,
    authorText(content.author),
    content.action,
    outcomeOf(content),
    content.target === null ? '-' : `${content.target.type} ${content.target.id}`,
    stateText(content.before),
    stateText(content.after),
    ...(isWide ? [content.operationId ?? '-', content.traceId ?? '-', content.client] : []),
  ]);
  return tableOf([isWide ? [...head, 'OPERATION', 'TRACE', 'CLIENT'] : head, ...rows]);
}

/** The name of an author in one cell. */
export function authorText(author: AuditAuthor): string {
  switch (author.kind) {
    case 'token':
      return [author, ...author.actors].map(({ subject }) => subject).join(' via ');
    case 'claimed':
      return `${author.name} (not verified)`;
    case 'service':
      return author.name;
    case 'unknown':
      return 'unknown';
  }
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
