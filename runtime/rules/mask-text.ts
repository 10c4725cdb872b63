/** The text with which a mask replaces a match. */
export type MaskText = {
  readonly replacement: string;
  /** Number of characters at the ends of a match that are kept; 0 for none. */
  readonly keepFirst: number;
  readonly keepLast: number;
};

/**
 * The text that replaces a match: the replacement between the kept characters. If a match has no more characters than
 * would be kept, no character is kept, so that no match is shown completely.
 */
export function maskText({ replacement, keepFirst, keepLast }: MaskText, match: () => string): string {
  if (keepFirst === 0 && keepLast === 0) return replacement;
  const characters = Array.from(match());
  if (characters.length <= keepFirst + keepLast) return replacement;
  const first = characters.slice(0, keepFirst).join('');
  return first + replacement + characters.slice(characters.length - keepLast).join('');
}
