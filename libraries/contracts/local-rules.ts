import { z } from 'zod';
import { checksumSchema } from './checksums.ts';
import { codePoints } from './code-points.ts';
import { foldSchema } from './folds.ts';

/** The engine value of a pattern (`bundle:regex:engine-value`). */
export const regexEngine = 're2-1.1.20251105';

/** Maximum number of characters that stay visible at one end of a masked match. */
const keptCharacters = z.int().min(1).max(16);

export const localActionSchema = z
  .discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('deny').describe('type deny forbids the text, type mask replaces what matches.'),
    }),
    z.strictObject({
      type: z.literal('mask').describe('type mask replaces what matches.'),
      replacement: codePoints(0, 1_024).describe(
        'replacement is inserted literally for each match of a mask; it may be empty.',
      ),
      keepFirst: keptCharacters.describe('keepFirst is how many characters at the begin of a match stay.').optional(),
      keepLast: keptCharacters.describe('keepLast is how many characters at the end of a match stay.').optional(),
    }),
  ])
  .describe('action says what a match does.');

const allowSchema = z
  .array(codePoints(1, 1_024))
  .min(1)
  .max(1_000)
  .describe('allow lists texts inside of which a match does not count.');

type MixedMatching = {
  readonly fold?: unknown;
  readonly stem?: unknown;
  readonly allow?: unknown;
  readonly match?: string;
  readonly caseSensitive: boolean;
};

/** Folds, stems and allow-lists each define which texts are equal; in one rule they would contradict each other. */
function refuseMixedMatching(how: MixedMatching, context: z.RefinementCtx): void {
  const issue = (member: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [member], message });
  if (how.allow !== undefined && how.fold !== undefined) issue('allow', 'cannot be combined with fold: remove one');
  if (how.stem === undefined) return;
  if (how.fold !== undefined) issue('stem', 'cannot be combined with fold: use two rules');
  if (how.match !== 'token') issue('stem', 'needs match token: stems are those of whole words');
  if (how.caseSensitive) issue('stem', 'needs caseSensitive false: stems have no letter case');
}

export const stopListSchema = z
  .strictObject({
    terms: z
      .array(codePoints(1, 1_024))
      .min(1)
      .max(100_000)
      .describe('terms are the strings to look for, without Unicode normalization.'),
    match: z
      .enum(['substring', 'token'])
      .describe('match says whether a term may be a part of a longer word (substring) or not (token).'),
    caseSensitive: z.boolean().describe('caseSensitive says whether letter case distinguishes.'),
    fold: foldSchema.optional(),
    stem: z
      .literal('snowball')
      .describe('stem snowball also matches other forms of the words of a term, in English and Russian.')
      .optional(),
    allow: allowSchema.optional(),
  })
  .superRefine(refuseMixedMatching)
  .describe('stopList holds the members of a rule of kind stop_list.');

export const regexSchema = z
  .strictObject({
    engine: z.literal(regexEngine).describe('engine names the matching engine.'),
    pattern: codePoints(1, 16_384).describe('pattern is an RE2 expression.'),
    caseSensitive: z.boolean().describe('caseSensitive says whether letter case distinguishes.'),
    checksum: checksumSchema.optional(),
    fold: foldSchema.optional(),
    allow: allowSchema.optional(),
  })
  .superRefine(refuseMixedMatching)
  .describe('regex holds the members of a rule of kind regex.');
