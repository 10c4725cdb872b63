import { success } from '#api/operation';
import { readLimit } from '#api/pages';
import { memoryLimits } from '#contracts/memory';
import type { TransactionSql } from '#sql/connect';
import { findPerson } from '../people/person.ts';
import { type ExportSection, exportSections, readSection } from './export-sections.ts';
import type { MemoryRequest, MemoryResponse } from './memory.ts';
import { exportCursors } from './page-parameters.ts';
import { userIdOf } from './read-scope.ts';

type Place = { readonly section: ExportSection; readonly after: string | undefined };
type Page = Record<ExportSection, object[]>;

/**
 * Answers with a page of all data of the caller that the service stores, read in one snapshot of the database
 * (docs/design/memory.md, "Export").
 */
export async function exportUser({ service, caller, query }: MemoryRequest): Promise<MemoryResponse> {
  const userId = userIdOf(caller);
  const rows = readLimit(query['page_size'], memoryLimits.exportPage) ?? memoryLimits.exportPage.default;
  const { page, next } = await service.database.sql.begin('repeatable read', async (sql) => {
    const person = (await findPerson(sql, caller))?.person ?? '0';
    return readPage(sql, { person, userId, rows, from: placeOf(query['page_token']) });
  });
  const token = next === undefined ? null : exportCursors.write(`${next.section}/${next.after ?? ''}`);
  return success({ user_id: userId, exported_at: new Date().toISOString(), ...page, next_page_token: token });
}

function placeOf(key: string | undefined): Place {
  if (key === undefined) return { section: 'memories', after: undefined };
  const at = key.indexOf('/');
  const after = key.slice(at + 1);
  return { section: key.slice(0, at) as ExportSection, after: after === '' ? undefined : after };
}

type Filling = {
  readonly person: string;
  readonly userId: string;
  readonly rows: number;
  readonly from: Place;
};

/** Reads sections until the page is full; `next` is where the next page begins, undefined after the last row. */
async function readPage(
  sql: TransactionSql,
  { person, userId, rows, from }: Filling,
): Promise<{ readonly page: Page; readonly next: Place | undefined }> {
  const page: Page = { memories: [], history: [], events: [], sessions: [], deletions: [] };
  let rowsLeft = rows;
  let bytesLeft: number = memoryLimits.exportPageBytes;
  for (const section of exportSections.slice(exportSections.indexOf(from.section))) {
    const after = section === from.section ? from.after : undefined;
    // One more row than the page has is read, to know whether the section continues.
    const found = await readSection(sql, section, { person, userId, after, rows: rowsLeft + 1, bytes: bytesLeft });
    const shown = found.slice(0, rowsLeft);
    page[section].push(...shown.map((row) => row.shown));
    rowsLeft -= shown.length;
    bytesLeft -= shown.reduce((sum, { bytes }) => sum + bytes, 0);
    if (found.length > shown.length || bytesLeft <= 0) {
      return { page, next: { section, after: shown.at(-1)?.key ?? after } };
    }
  }
  return { page, next: undefined };
}
