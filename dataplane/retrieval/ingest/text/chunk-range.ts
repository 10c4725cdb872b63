/** Lengths in UTF-16 units. */
export type ChunkLengths = { readonly size: number; readonly overlap: number };

/** Limits of `chunking` of a collection. An overlap of more than half of a chunk would repeat text endlessly. */
export const chunkingLimits = { minSize: 50, maxSize: 8_000, maxOverlapShare: 0.5 } as const;

/** The units that a chunk should not split. */
type Grain = 'prose' | 'rows';

type Span = { readonly start: number; readonly end: number };

/** Preference of positions at which a text is split; the smallest value is preferred. */
const paragraph = 0;
const line = 1;
const sentence = 2;
const word = 3;
const anywhere = 4;

/**
 * Cuts a range of a text into overlapping spans of at most `size`: at the end of a paragraph if a paragraph ends in the
 * second half of the span, otherwise at the end of a line, a sentence or a word, and otherwise between any two
 * characters. Tables are split between rows if a row ends inside the span. Every span begins after the start of the
 * previous span and not after its end.
 */
export function* chunkRange(text: string, range: Span, lengths: ChunkLengths, grain: Grain): Generator<Span> {
  let { start } = range;
  while (start < range.end) {
    const end = endOf(text, start, range.end, lengths.size, grain);
    yield { start, end };
    if (end === range.end) return;
    start = nextStart(text, { start, end }, lengths.overlap, grain);
  }
}

function endOf(text: string, start: number, last: number, size: number, grain: Grain): number {
  if (last - start <= size) return last;
  const latest = start + size;
  if (grain === 'rows') {
    // Only the span from `start` to `latest` is searched, because a row can be as long as the document.
    const row = text.slice(start, latest).lastIndexOf('\n') + 1;
    if (text.slice(start, start + row).trim() !== '') return start + row;
  }
  const earliest = start + Math.ceil(size / 2);
  let best = { at: latest, rank: anywhere };
  for (let at = latest; at > earliest && best.rank > paragraph; at -= 1) {
    const rank = rankOf(text, at);
    if (rank < best.rank) best = { at, rank };
  }
  return isInsidePair(text, best.at) ? best.at - 1 : best.at;
}

/** The first good position in the overlap, so that the repeated text begins with a row, a sentence or a word. */
function nextStart(text: string, { start, end }: Span, overlap: number, grain: Grain): number {
  const earliest = Math.max(start + 1, end - overlap);
  let best = { at: end, rank: anywhere };
  // A split inside a long word repeats a part of it.
  const isWordCut = grain === 'prose' && rankOf(text, end) === anywhere;
  for (let at = end - 1; at >= earliest; at -= 1) {
    if (/\s/.test(text.charAt(at))) continue;
    const rank = rankOf(text, at);
    if (rank <= (grain === 'rows' ? line : sentence)) best = { at, rank: sentence };
    else if (rank === word && best.rank >= word && grain === 'prose') best = { at, rank };
  }
  if (best.rank < anywhere || !isWordCut) return best.at;
  return isInsidePair(text, earliest) ? earliest + 1 : earliest;
}

/** The rank of a split before the character at an offset. */
function rankOf(text: string, at: number): number {
  const [before, after] = [text.charAt(at - 1), text.charAt(at)];
  if (/\s/.test(after)) return /\s/.test(before) ? anywhere : word;
  if (!/\s/.test(before)) return anywhere;
  if (before === '\n') return text.charAt(at - 2) === '\n' ? paragraph : line;
  return /[.!?…。！？]["'»”’)\]]?\s+$/.test(text.slice(Math.max(0, at - 20), at)) ? sentence : word;
}

function isInsidePair(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)];
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}
