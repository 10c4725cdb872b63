import { z } from 'zod';

/**
 * The differences that a local rule ignores (docs/design/folding.md):
 * - `whitespace`: any run of white space equals one blank.
 * - `invisible`: characters that are not shown are left out.
 * - `compatibility`: forms of one character are equal (NFKC), and `ё` equals `е`.
 * - `confusables`: letters that look like Latin ones equal these, and accents are left out.
 */
export const folds = ['whitespace', 'invisible', 'compatibility', 'confusables'] as const;
export type Fold = (typeof folds)[number];

export const foldSchema = z
  .array(z.enum(folds))
  .min(1)
  .max(folds.length)
  .describe('fold lists the differences that the rule ignores; without it, only equal characters match.');

/**
 * The most bytes of an answer from which one character of a match may come in the response section. A streamed answer
 * is judged in windows, so that a match must not grow without bound: 42 characters fit into the overlap of two windows.
 */
export const responseSourceBytes = 6;
