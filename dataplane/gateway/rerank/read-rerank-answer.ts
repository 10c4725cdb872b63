import { z } from 'zod';
import { utf8JsonOrUndefined } from '#kit/json/json-or-undefined';

const score = { index: z.int().min(0), relevance_score: z.number() };
const withoutText = z.strictObject({ ...score, document: z.null().optional() });
const absent = z.undefined().optional();
const answerShape = z.looseObject({
  results: z.array(z.looseObject(score)),
  error: z.null().optional(),
  choices: absent,
});
const guardedShape = answerShape.extend({ results: z.array(withoutText) });

/**
 * Whether an answer has the shape of the rerank API: places and scores, and no error. For a guarded model the results
 * may have no other members, because no check would see the text of a document.
 */
export function isRerankAnswer(bytes: Uint8Array, guarded: boolean): boolean {
  return (guarded ? guardedShape : answerShape).safeParse(utf8JsonOrUndefined(bytes)).success;
}
