import { z } from 'zod';
import type { Parameter } from '#api/operation';
import { createCursors } from '#api/pages';
import { pageParameters } from '#api/parameters';
import { memoryLimits } from '#contracts/memory';
import type { MemoryErrorCode } from '#contracts/memory-errors';

export const memoryCursors = createCursors('memories/v1');

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** Section and key of the last row, which is empty where the section has no row yet. */
const exportKey = new RegExp(
  `^(?:(?:memories|deletions)/(?:${uuid})?|(?:history|events)/\\d{0,18}|sessions/[^\\0]{0,255})$`,
);
export const exportCursors = createCursors('export/v1', z.string().regex(exportKey));

const { pageSize, scopeId } = memoryLimits;

/** No stored id contains U+0000, because PostgreSQL cannot store this character. */
function readScopeId(text: string): string | undefined {
  return text !== '' && text.length <= scopeId && !text.includes('\0') ? text : undefined;
}

const scope = (name: string, description: string): Parameter<MemoryErrorCode> => ({
  name,
  in: 'query',
  description,
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: scopeId },
  read: readScopeId,
});

/** The filters of lists and deletions; at least one filter is required. */
export const scopeParameters: readonly Parameter<MemoryErrorCode>[] = [
  scope('agent_id', 'Memories of this agent.'),
  scope('run_id', 'Memories of this run.'),
  scope('user_id', 'The calling user, for all of its memories; another user is refused.'),
];

export const memoryPages = pageParameters({ size: 'page_size', bounds: pageSize, cursors: memoryCursors });

export const exportPages = pageParameters({
  size: 'page_size',
  bounds: memoryLimits.exportPage,
  cursors: exportCursors,
});
