import { readFileSync } from 'node:fs';
import { z } from 'zod';

const text = z.string().min(1);
const fileSchema = z.strictObject({
  /** A message of a person, with one word or more between asterisks that a memory of it contains. */
  facts: z.array(text.regex(/^[^*]*\*[^*]+\*[^*]*$/)),
  /** A fact, and a later message that ends it. */
  corrections: z.array(z.tuple([text, text])),
  smallTalk: z.array(text),
});

type IndependentStatements = {
  readonly facts: readonly { readonly said: string; readonly kept: string }[];
  readonly corrections: readonly { readonly fact: string; readonly correction: string }[];
  readonly smallTalk: readonly string[];
};

/**
 * Statements of people about themselves, and small talk. Their words were not taken from the lists of the extractor, and no
 * rule was written for one of them; but their author knew the task of the extractor.
 */
export function readIndependentStatements(language: 'english' | 'russian'): IndependentStatements {
  const file = new URL(`./independent-statements/${language}.json`, import.meta.url);
  const { facts, corrections, smallTalk } = fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return {
    facts: facts.map((marked) => ({ said: marked.replaceAll('*', ''), kept: marked.split('*')[1] ?? '' })),
    corrections: corrections.map(([fact, correction]) => ({ fact, correction })),
    smallTalk,
  };
}
