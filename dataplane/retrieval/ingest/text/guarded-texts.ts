import { mapStrings } from '#kit/json/map-strings';
import type { JsonObject } from './document-content.ts';
import { storableText } from './storable-text.ts';
import type { DocumentBlocks } from './text-blocks.ts';

/** Every part of a document that is stored, indexed or returned as text. */
export type JudgedDocument = DocumentBlocks & { readonly metadata: JsonObject };

/** Every text of a document in a fixed order: the title, headings and texts of blocks, keys and strings of metadata. */
export function textsOf({ title, blocks, metadata }: JudgedDocument): readonly string[] {
  const texts: string[] = title === undefined ? [] : [title];
  for (const { heading, text } of blocks) texts.push(...(heading === undefined ? [] : [heading]), text);
  mapStrings(metadata, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

/** The document with its texts replaced, in the order of `textsOf`. */
export function withTexts(document: JudgedDocument, texts: readonly string[]): JudgedDocument {
  if (texts.length !== textsOf(document).length) throw new Error('a judged document has another number of texts');
  let at = 0;
  const next = (): string => storableText(texts[at++] as string);
  const title = document.title === undefined ? undefined : next();
  const blocks = document.blocks.map(({ heading, text: _, ...rest }) => {
    const judged = heading === undefined ? {} : { heading: next().replace(/\s+/g, ' ') };
    return { ...rest, ...judged, text: next() };
  });
  const metadata = mapStrings(document.metadata, next) as JsonObject;
  return { ...(title === undefined ? {} : { title }), blocks, metadata };
}
