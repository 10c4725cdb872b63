import { readFileSync } from 'node:fs';
import {
  type AuditChain,
  type AuditEntry,
  auditChainsSchema,
  auditEntrySchema,
  auditPageSchema,
} from '#contracts/audit';
import { jsonOrUndefined } from '#kit/json/json-or-undefined';
import { typedCommand } from '../command-line/typed-command.ts';
import { CliError } from '../errors/cli-error.ts';
import { type ManagementConnection, sendRequest } from '../management/send-request.ts';

const pageSize = 500;

/** Filters of the route, by the names of its parameters. */
export type AuditFilters = Readonly<Record<string, string | undefined>>;

/** Entries in pages; every entry that existed at the start once. @throws ManagementApiError, ManagementUnreachableError */
export async function* readAudit(
  connection: ManagementConnection,
  filters: AuditFilters,
  { order, most = Number.POSITIVE_INFINITY }: { readonly order: 'newest' | 'oldest'; readonly most?: number },
): AsyncGenerator<AuditEntry> {
  let cursor: string | undefined;
  for (let count = 0; count < most; ) {
    const limit = String(Math.min(pageSize, most - count));
    const given = Object.entries({ ...filters, order, limit, cursor }).filter(
      (pair): pair is [string, string] => pair[1] !== undefined,
    );
    const path = `/api/v1/audit?${new URLSearchParams(given)}`;
    const { value } = await sendRequest(connection, { method: 'GET', path }, auditPageSchema);
    yield* value.items;
    count += value.items.length;
    if (value.nextCursor === null) return;
    cursor = value.nextCursor;
  }
}

export async function readChains(connection: ManagementConnection): Promise<readonly AuditChain[]> {
  const call = { method: 'GET', path: '/api/v1/audit/chains' } as const;
  return (await sendRequest(connection, call, auditChainsSchema)).value.items;
}

/** The entries of an export, in the order of the file. @throws CliError for a line that is no entry */
export function readExport(file: string): readonly AuditEntry[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new CliError('usage', `${file} cannot be read: give a file that ${typedCommand('audit export')} wrote.`, {
      cause,
    });
  }
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line, at) => {
    const entry = auditEntrySchema.safeParse(jsonOrUndefined(line));
    if (entry.success) return entry.data;
    throw new CliError('usage', `${file}: line ${at + 1} is no entry of the audit log.`);
  });
}
