import { z } from 'zod';
import type { JsonValue } from '#kit/json/parse-strict';
import type { Verdict } from '../../rules/compiled-section.ts';

/** A decision with a word that the contract does not define. */
const otherDecision = z.strictObject({ decision: z.string() });

/**
 * The verdict in an answer that is exactly `{"decision": …}` (`bundle:llm-classifier:decision-only`): allow or deny; every other word leaves it
 * undefined; every other shape is an invalid answer.
 */
export function readDecision(
  schema: z.ZodType<{ readonly decision: 'allow' | 'deny' | 'uncertain' }>,
  value: JsonValue,
): Verdict {
  const answer = schema.safeParse(value);
  if (!answer.success) {
    const undefinedVerdict = otherDecision.safeParse(value).success;
    return { kind: 'failed', code: undefinedVerdict ? 'verdict_undefined' : 'provider_invalid_answer' };
  }
  switch (answer.data.decision) {
    case 'allow':
      return { kind: 'allow' };
    case 'deny':
      return { kind: 'deny' };
    case 'uncertain':
      return { kind: 'failed', code: 'verdict_undefined' };
  }
}
