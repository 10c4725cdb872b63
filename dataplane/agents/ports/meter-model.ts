import type { FlowPorts } from '#flow/engine/ports';

/** The numbers of tokens that a model reported for one call. */
export type ModelUsage = { readonly promptTokens: number; readonly completionTokens: number };

/**
 * Reports the tokens of each answer of a model. A call without an answer, or whose answer has no usage, reports
 * nothing.
 */
export function meterModel(model: FlowPorts['model'], onUsage: (usage: ModelUsage) => void): FlowPorts['model'] {
  return async (request, call) => {
    const answer = await model(request, call);
    if (answer.usage !== undefined) onUsage(answer.usage);
    return answer;
  };
}
