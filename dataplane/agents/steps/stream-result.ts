import type { FlowResult } from '#flow/engine/run-events';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { CheckedResult } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';
import type { TextGuard } from './guard-texts.ts';
import { TextStream } from './text-stream.ts';

/** The stream of a result; undefined if the flow or the output policy does not allow text in parts. */
export function openTextStream(
  { agent, guard }: { readonly agent: LoadedAgent; readonly guard: TextGuard },
  signal: AbortSignal,
  onReleased: (text: string) => void,
): TextStream | undefined {
  if (agent.streamed.size === 0 || windowlessPolicy(agent, guard.policies) !== undefined) return undefined;
  return new TextStream({ guard, guardrail: agent.bundle.guardrails.output, signal, onReleased });
}

/** The output policy of a version that streams text, if it cannot be judged in windows. */
export function windowlessPolicy(
  { bundle: { guardrails }, streamed }: Pick<LoadedAgent, 'bundle' | 'streamed'>,
  policies: TextGuard['policies'],
): string | undefined {
  const { output } = guardrails;
  if (streamed.size === 0 || output === 'None' || policies.judgesWindows(output.name)) return undefined;
  return output.name;
}

/** Step seven of a result whose text has begun to leave. @throws AgentError guardrail_denied, guardrail_error, output_invalid */
export async function finishText(
  { flow }: LoadedAgent,
  stream: TextStream,
  { text }: FlowResult,
): Promise<CheckedResult> {
  const rest = await stream.finish(text);
  if (text === undefined || flow.checkResult({ text }).length > 0) throw new AgentError('output_invalid');
  return { text, rest, checked: true };
}
