import { readFileSync } from 'node:fs';
import { z } from 'zod';

const text = z.string().min(1);
const fileSchema = z.strictObject({
  /** Messages of a person, with one word or more between asterisks that a memory of the message must contain. */
  facts: z.array(text.regex(/^[^*]*\*[^*]+\*[^*]*$/)),
  /** A fact, and a later message that ends it. */
  corrections: z.array(z.tuple([text, text])),
  smallTalk: z.array(text),
  /** A fact, and a later statement of the person that does not change it, though it mentions it. */
  stillSo: z.array(z.tuple([text, text])).default([]),
});

type IndependentStatements = {
  readonly facts: readonly { readonly said: string; readonly kept: string }[];
  readonly corrections: readonly { readonly fact: string; readonly correction: string }[];
  readonly smallTalk: readonly string[];
  readonly stillSo: readonly { readonly fact: string; readonly remark: string }[];
};

/**
 * The names of the sets. Sets that end in `unseen` were written before the rules of the further statements, by the
 * author of those rules; sets that end in `later` have only corrections, in idioms and words that are as different as
 * possible. The rules of corrections were changed after all of these sets. Sets that end in `everyday` and `unlisted`
 * were written before that change, by its author; the values in `unlisted` are of kinds for which the rules have no
 * list of words. The first run of these sets is the estimate in docs/figures.md; faults that it showed were repaired,
 * so that the sets are known now. If a rule is changed because of a statement of a set, the set becomes known, and
 * another set must be written.
 */
export type IndependentSet =
  | 'english'
  | 'russian'
  | 'english-unseen'
  | 'russian-unseen'
  | 'english-later'
  | 'russian-later'
  | 'english-everyday'
  | 'russian-everyday'
  | 'english-unlisted'
  | 'russian-unlisted';

/**
 * Reads statements of people about themselves, and small talk. Their words were not taken from the lists of the
 * extractor, and no rule was written for one of them; but their author knew the task of the extractor.
 */
export function readIndependentStatements(set: IndependentSet): IndependentStatements {
  const file = new URL(`./independent-statements/${set}.json`, import.meta.url);
  const { facts, corrections, smallTalk, stillSo } = fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return {
    facts: facts.map((marked) => ({ said: marked.replaceAll('*', ''), kept: marked.split('*')[1] ?? '' })),
    corrections: corrections.map(([fact, correction]) => ({ fact, correction })),
    smallTalk,
    stillSo: stillSo.map(([fact, remark]) => ({ fact, remark })),
  };
}
