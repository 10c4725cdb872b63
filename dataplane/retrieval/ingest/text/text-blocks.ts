import { boundedParts, type ContentPart } from './content-parts.ts';
import type { DocumentContent } from './document-content.ts';
import { storableText } from './storable-text.ts';

/** A part of a document that no chunk crosses, before or after masking. */
export type TextBlock = {
  readonly kind: ContentPart['kind'];
  readonly heading?: string;
  /** Page number, counted from 1. */
  readonly page?: number;
  readonly text: string;
};

export type DocumentBlocks = { readonly title?: string; readonly blocks: readonly TextBlock[] };

/**
 * The blocks of a document: sections, tables, then other keys. Blocks without text are left out.
 * @param mostUnits maximum length of the text; undefined for a stored text, which has no limit
 * @throws LongTextError
 */
export function textBlocks(content: DocumentContent, mostUnits?: number): DocumentBlocks {
  const blocks: TextBlock[] = [];
  for (const part of boundedParts(content, mostUnits)) {
    const lines: string[] = [];
    for (const pieces of part.lines) lines.push(pieces.join(''));
    blocks.push(block(part, lines.join('\n')));
  }
  const title = storableText(content.title ?? '');
  return {
    ...(title === '' ? {} : { title }),
    blocks: blocks.filter((one) => one.text !== '' || one.heading !== undefined),
  };
}

function block({ kind, heading, page }: ContentPart, text: string): TextBlock {
  const cleaned = storableText(heading ?? '').replace(/\s+/g, ' ');
  return {
    kind,
    ...(cleaned === '' ? {} : { heading: cleaned }),
    ...(page === undefined ? {} : { page }),
    text: storableText(text),
  };
}
