import type { DocumentBlocks, TextBlock } from './text-blocks.ts';

/** A range of the stored text that no chunk crosses; offsets count UTF-16 units, the end is exclusive. */
export type TextRange = {
  readonly kind: TextBlock['kind'];
  readonly start: number;
  readonly end: number;
  readonly heading?: string;
  readonly page?: number;
};

/** The stored form of a document, to which citations refer and which a reindex reads. */
export type CanonicalText = { readonly title?: string; readonly text: string; readonly ranges: readonly TextRange[] };

const betweenBlocks = '\n\n';

/** The longest part of the title and of the heading that each chunk contains, UTF-16 units. */
export const mostCarried = 256;

/**
 * Joins blocks to one text. A heading is the first line of its range. The title is not part of the text, because every
 * chunk carries it. If the title is longer than the part that chunks carry, or if the document contains nothing else,
 * the title is also the first block of the text, so that all of it is found.
 */
export function canonicalText({ title, blocks }: DocumentBlocks): CanonicalText {
  const own = needsTitle(title, blocks) ? [{ kind: 'section', text: title } as const, ...blocks] : blocks;
  const ranges: TextRange[] = [];
  const parts: string[] = [];
  let start = 0;
  for (const { kind, heading: line, page, text } of own) {
    // A policy may replace a heading by an empty text.
    const heading = line === '' ? undefined : line;
    const part = [heading, text].filter((one) => one !== undefined && one !== '').join('\n');
    const end = start + part.length;
    ranges.push({
      kind,
      start,
      end,
      ...(heading === undefined ? {} : { heading }),
      ...(page === undefined ? {} : { page }),
    });
    parts.push(part);
    start = end + betweenBlocks.length;
  }
  return { ...(title === undefined ? {} : { title }), text: parts.join(betweenBlocks), ranges };
}

/** Whether the text needs its title as a block; false for the blocks of a stored text that begins with its title. */
function needsTitle(title: string | undefined, blocks: readonly TextBlock[]): title is string {
  if (title === undefined) return false;
  const [first] = blocks;
  return first === undefined || (title.length > mostCarried && (first.heading !== undefined || first.text !== title));
}
