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
 * The sets. Those that end in `unseen` were written before the rules of the further statements, by their author; those that
 * end in `later` have only corrections, in idioms and words as different as possible. The rules of corrections were changed
 * for all of these. Those that end in `everyday` and `unlisted` were written before that change, by its author; the values of
 * `unlisted` are of kinds of which the rules have no list of words. Their first run is the estimate of docs/figures.md; faults
 * that it showed were repaired, so they are known since.
 * Those that end in `turns`, `fresh` and `third` are corrections and remarks of everyday life, each written before the rules
 * were changed for it. For those that end in `untuned` no rule was changed. Those that end in `other-author` were written by
 * somebody who knew neither the rules nor the task of the extractor, each correction in another form; no rule was changed for them.
 * A rule that is changed for one of a set makes the set known: write another one then.
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
  | 'russian-unlisted'
  | 'english-turns'
  | 'russian-turns'
  | 'english-fresh'
  | 'russian-fresh'
  | 'english-third'
  | 'russian-third'
  | 'english-untuned'
  | 'russian-untuned'
  | 'english-other-author'
  | 'russian-other-author';

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
