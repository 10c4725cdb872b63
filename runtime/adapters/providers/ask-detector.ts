import { detectorContract } from '#contracts/policy';
import { type DetectorRequest, detectorAnswerSchema } from '#contracts/providers';
import type { Question, Verdict } from '../../rules/compiled-section.ts';
import { type ProviderCall, postJson } from './post-json.ts';
import { readDecision } from './read-decision.ts';

/**
 * Asks an external detector (`bundle:external-pipeline:contract`). The answer must consist of exactly a decision: any
 * further member, even a replacement text, makes the answer invalid and is never applied.
 */
export function createDetector(call: ProviderCall): (question: Question, signal: AbortSignal) => Promise<Verdict> {
  return async (question, signal) => {
    const body: DetectorRequest = {
      schema: detectorContract,
      stage: question.stage,
      messages: question.messages.map(({ role, content }) => ({ role, content })),
    };
    const answer = await postJson(call, body, signal);
    return answer.ok ? readDecision(detectorAnswerSchema, answer.value) : answer.verdict;
  };
}
