import type { Citation } from '#contracts/retrieval';

/** The content of a citation with an asterisk before and after each highlighted word. */
export function markedContent({ content, highlights = [] }: Pick<Citation, 'content' | 'highlights'>): string {
  let marked = '';
  let reached = 0;
  for (const { start, end } of highlights) {
    marked += `${content.slice(reached, start)}*${content.slice(start, end)}*`;
    reached = end;
  }
  return marked + content.slice(reached);
}
