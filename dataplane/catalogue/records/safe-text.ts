import { hideAddresses } from './hide-addresses.ts';

/**
 * Invisible marks, such as variation selectors: they are a part of the character before them. Without them an emoji
 * looks different, and a text cannot carry hidden marks for models.
 */
const unseenMarks = /[\p{Default_Ignorable_Code_Point}&&\p{M}]+/gv;
/**
 * Other characters that a reader does not see or that change the order of visible text: controls, format characters
 * such as bidi marks, joiners and tag characters, fillers and blanks, line and paragraph separators, unassigned and
 * private ones, and lone surrogates.
 */
const unsafe = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}\u2800\u{1D159}]+/gu;

/**
 * Text of a card that people and models may read (`catalogue:record:safe-name`): without invisible characters, without
 * internal addresses of the installation or addresses with credentials, in one line, in NFC, and truncated.
 * @param most maximum number of code points
 */
export function safeText(text: string, most: number): string {
  return cleanLine(text, most, false);
}

/** The id of a skill as a safe text. A number after a colon is a part of the id, such as `iso:27001`, and no port. */
export function safeId(id: string, most: number): string {
  return cleanLine(id, most, true);
}

function cleanLine(text: string, most: number, keepsPorts: boolean): string {
  const seen = text.replace(unseenMarks, '').normalize('NFC').replace(unsafe, ' ');
  const line = [...hideAddresses(seen, { keepsPorts }).replace(/\s+/g, ' ').trim()];
  return line.length <= most ? line.join('') : `${line.slice(0, most - 1).join('')}…`;
}
