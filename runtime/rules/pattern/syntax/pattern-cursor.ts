/** Thrown when the syntax is refused; parsePattern converts it to a PatternFault. */
export class PatternSyntaxError extends Error {
  override readonly name = 'PatternSyntaxError';
}

/** A pattern that is being read, one code point at a time. */
export type Cursor = { readonly runes: readonly string[]; at: number };

/** Whether the characters at the cursor begin with `text` (ASCII). */
export function startsWith(cursor: Cursor, text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (cursor.runes[cursor.at + index] !== text[index]) return false;
  }
  return true;
}

/** The character `ahead` places after the cursor, or '' past the end. */
export function peek(cursor: Cursor, ahead = 0): string {
  return cursor.runes[cursor.at + ahead] ?? '';
}

/** The number of characters after the cursor. */
export function remaining(cursor: Cursor): number {
  return cursor.runes.length - cursor.at;
}

/** The text between two positions, truncated after 40 characters: syntax to show in a refusal. */
export function excerpt(cursor: Cursor, from: number, to = cursor.at): string {
  const text = cursor.runes.slice(from, Math.min(to, from + 40)).join('');
  return to - from > 40 ? `${text}…` : text;
}
