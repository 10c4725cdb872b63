import type { JsonValue } from '#kit/json/json-value';
import type { DocumentContent } from './document-content.ts';
import { renderTable, renderValue } from './render-table.ts';
import { storableText } from './storable-text.ts';

/** A part of a document that no chunk crosses, before or after masking. */
export type TextBlock = {
  readonly kind: 'section' | 'table' | 'other';
  readonly heading?: string;
  /** Counted from 1. */
  readonly page?: number;
  readonly text: string;
};

export type DocumentBlocks = { readonly title?: string; readonly blocks: readonly TextBlock[] };

const structuredKeys: ReadonlySet<string> = new Set(['title', 'sections', 'tables', 'pages']);

/** The blocks of a document: sections, tables, then other keys. Blocks without text are left out. */
export function textBlocks(content: DocumentContent): DocumentBlocks {
  const sections = content.sections ?? [];
  const pages = pagesOf(content.pages, sections.length);
  const blocks = [
    ...sections.map((section, at) => block('section', section.heading, section.text, pages[at])),
    ...(content.tables ?? []).map(renderTable).map((table) => block('table', table.caption, table.text)),
    ...Object.entries(content)
      .filter(([key]) => !structuredKeys.has(key))
      .map(([key, value]) => block('other', undefined, renderValue(key, value as JsonValue).join('\n'))),
  ];
  const title = storableText(content.title ?? '');
  return {
    ...(title === '' ? {} : { title }),
    blocks: blocks.filter((one) => one.text !== '' || one.heading !== undefined),
  };
}

function block(kind: TextBlock['kind'], heading: string | undefined, text: string, page?: number): TextBlock {
  const cleaned = storableText(heading ?? '').replace(/\s+/g, ' ');
  return {
    kind,
    ...(cleaned === '' ? {} : { heading: cleaned }),
    ...(page === undefined ? {} : { page }),
    text: storableText(text),
  };
}

function pagesOf(pages: JsonValue | undefined, count: number): readonly (number | undefined)[] {
  const isList = Array.isArray(pages) && pages.length === count;
  if (!isList || !pages.every((page) => Number.isSafeInteger(page) && Number(page) > 0)) return [];
  return pages as readonly number[];
}
