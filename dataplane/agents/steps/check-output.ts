import type { FlowResult } from '#flow/engine/run-events';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { CheckedResult } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';
import { guardTexts, type TextGuard } from './guard-texts.ts';

/**
 * Step seven: the output policy judges the result. The result, masked if the policy masks it, must match the output
 * schema.
 * @throws AgentError guardrail_denied, guardrail_error, output_invalid
 */
export async function checkOutput(
  { bundle, flow }: LoadedAgent,
  guard: TextGuard,
  { text, data }: FlowResult,
  signal: AbortSignal,
): Promise<CheckedResult> {
  const given = [...(text === undefined ? [] : [text]), ...(data === undefined ? [] : [data])];
  const allowed = [...(await guardTexts(guard, bundle.guardrails.output, 'response', given, signal))];
  const judged = {
    ...(text === undefined ? {} : { text: String(allowed.shift()) }),
    ...(data === undefined ? {} : { data: allowed.shift() ?? null }),
  };
  const value = judged.data ?? { text: judged.text ?? '' };
  if (flow.checkResult(value).length > 0) throw new AgentError('output_invalid');
  return { ...judged, checked: true };
}
