import type { CanonicalText } from './canonical-text.ts';
import type { DocumentBlocks } from './text-blocks.ts';

/** The blocks of a stored text; `canonicalText` of them is the same text. */
export function storedBlocks({ title, text, ranges }: CanonicalText): DocumentBlocks {
  const blocks = ranges.map(({ kind, start, end, heading, page }) => {
    const part = text.slice(start, end);
    return {
      kind,
      ...(heading === undefined ? {} : { heading }),
      ...(page === undefined ? {} : { page }),
      text: heading === undefined ? part : part.slice(heading.length + 1),
    };
  });
  return { ...(title === undefined ? {} : { title }), blocks };
}
