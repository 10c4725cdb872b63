import { retrievalLimits } from '#contracts/retrieval';
import type { JsonValue } from '#kit/json/json-value';
import type { DocumentContent } from './document-content.ts';
import { type LinePieces, renderTable, renderValue } from './render-table.ts';

/** A section, a table, or another member of a content. */
export type ContentPart = {
  readonly kind: 'section' | 'table' | 'other';
  readonly heading: string | undefined;
  /** Page number, counted from 1; undefined for content without pages. */
  readonly page: number | undefined;
  /** The lines of its text. A line is made when it is requested, and no line is empty. */
  readonly lines: Iterable<LinePieces>;
};

/**
 * The place where a text becomes too long: a path that starts at the content. A key of the submitter is not part of the
 * path.
 */
type PartPath = readonly (string | number)[];

/** The text of a document would have more characters than are allowed. */
export class LongTextError extends Error {
  /** The part in which the text becomes too long; empty for a member that is neither a section nor a table. */
  readonly path: PartPath;

  constructor(path: PartPath) {
    super(`makes the text longer than ${retrievalLimits.textUnits} characters: divide the document`);
    this.name = 'LongTextError';
    this.path = path;
  }
}

const structuredKeys: ReadonlySet<string> = new Set(['title', 'sections', 'tables', 'pages']);

/**
 * The parts of a content: sections, tables, then other keys. A table repeats its headers in each row, and other members
 * repeat their path in each line, so that the length of the text can grow with the square of the content: the length is
 * counted before a line is joined. A line counts with its line end, and so do the title and each heading.
 * @throws LongTextError
 */
export function* boundedParts(
  content: DocumentContent,
  mostUnits: number = retrievalLimits.textUnits,
): Generator<ContentPart> {
  let length = 0;
  const count = (path: PartPath, pieces: LinePieces): number => {
    let added = 0;
    for (const piece of pieces) added += piece.length;
    if (added === 0) return added;
    length += added + 1;
    if (length > mostUnits) throw new LongTextError(path);
    return added;
  };

  function* counted(path: PartPath, lines: Iterable<LinePieces>): Generator<LinePieces> {
    for (const pieces of lines) if (count(path, pieces) > 0) yield pieces;
  }

  function part(
    kind: ContentPart['kind'],
    path: PartPath,
    { heading, page, lines }: Partial<ContentPart> & Pick<ContentPart, 'lines'>,
  ): ContentPart {
    count(path, [heading ?? '']);
    return { kind, heading, page, lines: counted(path, lines) };
  }

  count(['title'], [content.title ?? '']);
  const sections = content.sections ?? [];
  const pages = pagesOf(content.pages, sections.length);
  for (const [at, { heading, text }] of sections.entries()) {
    yield part('section', ['sections', at], { heading, page: pages[at], lines: [[text]] });
  }
  for (const [at, table] of (content.tables ?? []).entries()) {
    const { caption, lines } = renderTable(table);
    yield part('table', ['tables', at], { heading: caption, lines });
  }
  for (const [key, value] of Object.entries(content)) {
    if (!structuredKeys.has(key)) yield part('other', [], { lines: renderValue(key, value as JsonValue) });
  }
}

/** The error for a content whose text is too long; undefined for any other content. The text itself is not built. */
export function longTextOf(content: DocumentContent): LongTextError | undefined {
  try {
    for (const { lines } of boundedParts(content)) for (const _ of lines);
    return undefined;
  } catch (error) {
    if (error instanceof LongTextError) return error;
    throw error;
  }
}

function pagesOf(pages: JsonValue | undefined, count: number): readonly (number | undefined)[] {
  const isList = Array.isArray(pages) && pages.length === count;
  if (!isList || !pages.every((page) => Number.isSafeInteger(page) && Number(page) > 0)) return [];
  return pages as readonly number[];
}
