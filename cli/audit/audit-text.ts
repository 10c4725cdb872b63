import { type AuditEntry, type AuditServing, type AuditState, auditNamedHolders } from '#contracts/audit';
import type { NameOfTarget } from '../management/target-names.ts';
import { authorText } from '../output/author-text.ts';
import { tableOf } from '../output/write.ts';

/** Entries as a table; a wide table adds the ids of the target, operation and trace. */
export function auditTable(entries: readonly AuditEntry[], nameOf: NameOfTarget, isWide: boolean): string {
  const head = ['TIME', 'AUTHOR', 'ACTION', 'OUTCOME', 'TARGET', 'BEFORE', 'AFTER'];
  const rows = entries.map(({ content }) => [
    content.time,
    authorText(content.author),
    content.action,
    outcomeOf(content),
    content.target === null ? '-' : `${content.target.type} ${nameOf(content.target.type, content.target.id)}`,
    beforeText(content),
    afterText(content, isWide),
    ...(isWide ? [content.target?.id ?? '-', content.operationId ?? '-', content.traceId ?? '-', content.client] : []),
  ]);
  return tableOf([isWide ? [...head, 'TARGET ID', 'OPERATION', 'TRACE', 'CLIENT'] : head, ...rows]);
}

function outcomeOf({ outcome, code, count }: AuditEntry['content']): string {
  const why = code === null ? outcome : `${outcome}: ${code}`;
  return count === 1 ? why : `${why} (${count} times)`;
}

function beforeText({ before, serving, access }: AuditEntry['content']): string {
  return joined(stateText(before), servingText(serving?.before), rightsText(access?.before));
}

/** The new state in an entry; a table names one changed right, a wide table all changed rights of the entry. */
function afterText({ after, serving, access, settings }: AuditEntry['content'], isWide: boolean): string {
  const granted = access?.granted.map((right) => `+${right}`) ?? [];
  const revoked = access?.after === null ? [] : (access?.revoked.map((right) => `-${right}`) ?? []);
  const changed = [...granted, ...revoked];
  const shown = changed.slice(0, isWide ? auditNamedHolders * 2 : 1);
  const revokedCount = access?.after === null ? 0 : (access?.revokedCount ?? revoked.length);
  const rest = (access?.grantedCount ?? granted.length) + revokedCount - shown.length;
  const changes = [...shown, ...(rest === 0 ? [] : [`${rest} more`])].join(', ');
  const rights = rightsText(access?.after);
  const rightsAndChanges = changes === '' ? rights : `${rights}: ${changes}`;
  return joined(stateText(after), servingText(serving?.after), rightsAndChanges, settings?.changed.join(', ') ?? '');
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(', ') || '-';
}

function servingText(serving: AuditServing | null | undefined): string {
  if (serving === null || serving === undefined) return '';
  const { version, canary } = serving;
  return canary === null ? version : `${version}, ${canary.percent} % ${canary.version}`;
}

function rightsText(access: { readonly count: number } | null | undefined): string {
  if (access === null || access === undefined) return '';
  return access.count === 1 ? '1 right' : `${access.count} rights`;
}

function stateText(state: AuditState | null): string {
  if (state === null) return '';
  const revision = state.revision === null ? '' : `r${state.revision} `;
  return `${revision}${state.digest?.slice(0, 12) ?? ''}`.trim();
}
