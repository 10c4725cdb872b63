import { z } from 'zod';

/**
 * The differences that a local rule ignores (docs/design/folding.md):
 * - `whitespace`: any run of white space equals one space.
 * - `invisible`: invisible characters are left out.
 * - `compatibility`: forms of one character are equal (NFKC), and `ё` equals `е`.
 * - `confusables`: letters that look like Latin letters equal them, and accents are left out.
 */
export const folds = ['whitespace', 'invisible', 'compatibility', 'confusables'] as const;
export type Fold = (typeof folds)[number];

export const foldSchema = z
  .array(z.enum(folds))
  .min(1)
  .max(folds.length)
  .describe('fold lists the differences that the rule ignores; without it, only equal characters match.');

/**
 * Maximum number of bytes of an answer that one character of a match can represent in the response section. A streamed
 * answer is judged in windows, so that the length of a match must be limited: 42 characters fit into the overlap of two
 * windows.
 */
export const responseSourceBytes = 6;
