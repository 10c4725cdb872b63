import { shortenLine } from '#kit/text/shorten-line';
import { type CanonicalText, mostCarried, type TextRange } from './canonical-text.ts';
import { type ChunkLengths, chunkRange } from './chunk-range.ts';

/** One chunk of a document; `text` is the stored text from `start` to `end`, in UTF-16 units. */
export type TextChunk = {
  /** Number of the chunk, counted from 0 in the order of the text. */
  readonly no: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly heading?: string;
  readonly page?: number;
};

/**
 * Splits a document into chunks; each is made when it is requested. Every character is in a chunk, except the white
 * space between blocks; no chunk is longer than `size`, crosses a block, or splits a surrogate pair.
 */
export function* chunkDocument(document: CanonicalText, lengths: ChunkLengths): Generator<TextChunk> {
  let no = 0;
  for (const range of document.ranges) {
    const grain = range.kind === 'table' ? 'rows' : 'prose';
    for (const { start, end } of chunkRange(document.text, range, lengths, grain)) {
      yield { no, start, end, text: document.text.slice(start, end), ...carried(range) };
      no += 1;
    }
  }
}

function carried({ heading, page }: TextRange): Pick<TextChunk, 'heading' | 'page'> {
  return {
    ...(heading === undefined ? {} : { heading: shortenLine(heading, mostCarried) }),
    ...(page === undefined ? {} : { page }),
  };
}

/**
 * The text of a chunk for models and the analysis of terms: title and heading first, each once.
 * @param most of the title and of the heading, UTF-16 units
 */
export function chunkInContext(
  title: string | undefined,
  chunk: Pick<TextChunk, 'heading' | 'text'>,
  most: number = mostCarried,
): string {
  const heading = chunk.heading === undefined || chunk.text.startsWith(chunk.heading) ? undefined : chunk.heading;
  return [title === chunk.text ? undefined : title, heading]
    .flatMap((line) => (line === undefined ? [] : [shortenLine(line, most)]))
    .filter((line) => line !== '')
    .concat(chunk.text)
    .join('\n');
}
