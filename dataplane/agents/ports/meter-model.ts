import type { FlowPorts } from '#flow/engine/ports';

/** Tokens that a model reported for one call; 0 where it reported none. */
export type ModelUsage = { readonly promptTokens: number; readonly completionTokens: number };

/** Reports the tokens of each answer of a model. A call without an answer reports none. */
export function meterModel(model: FlowPorts['model'], onUsage: (usage: ModelUsage) => void): FlowPorts['model'] {
  return async (request, call) => {
    const answer = await model(request, call);
    onUsage(answer.usage);
    return answer;
  };
}
