/** The text that a mask writes in place of a match. */
export type MaskText = {
  readonly replacement: string;
  /** Characters at the ends of a match that are kept; 0 for none. */
  readonly keepFirst: number;
  readonly keepLast: number;
};

/**
 * The text in place of a match: the replacement between the characters that stay. A match that has no more characters
 * than would be kept keeps none, so that no match is shown whole.
 */
export function maskText({ replacement, keepFirst, keepLast }: MaskText, match: () => string): string {
  if (keepFirst === 0 && keepLast === 0) return replacement;
  const characters = Array.from(match());
  if (characters.length <= keepFirst + keepLast) return replacement;
  const first = characters.slice(0, keepFirst).join('');
  return first + replacement + characters.slice(characters.length - keepLast).join('');
}
