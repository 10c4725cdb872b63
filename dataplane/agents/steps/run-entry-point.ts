import type { AgentErrorCode } from '#contracts/agent-errors';
import type { FlowErrorCode } from '#contracts/flow-errors';
import type { FlowPorts } from '#flow/engine/ports';
import type { FlowResult, RunEvent } from '#flow/engine/run-events';
import { type ExecutionRequest, runFlow } from '#flow/engine/run-flow';
import type { LoadedFlow } from '#flow/loader/loaded-flow';
import { AgentError } from '../calls/agent-error.ts';

/** The code that the caller receives for an error of a flow; every other error is `flow_failed`. */
const codes: Partial<Record<FlowErrorCode, AgentErrorCode>> = {
  input_invalid: 'input_invalid',
  output_invalid: 'output_invalid',
  guardrail_denied: 'guardrail_denied',
  forbidden: 'forbidden',
  grant_ended: 'forbidden',
  unavailable: 'dependency_unavailable',
  rate_limited: 'dependency_unavailable',
  timeout: 'deadline_exceeded',
  deadline_exceeded: 'deadline_exceeded',
  budget_exceeded: 'budget_exceeded',
  cancelled: 'cancelled',
  file_provider_mapping_failed: 'file_provider_mapping_failed',
  internal: 'internal',
};

type RunParts = {
  readonly ports: FlowPorts;
  readonly signal: AbortSignal;
  /** Receives every event of the run except its texts. */
  readonly onEvent: (event: RunEvent) => void;
  /** Receives the text of the prompts in `textOf` of the request; an error that it throws ends the run. */
  readonly onText?: ((text: string) => Promise<void>) | undefined;
};

/** Step six: runs the entry point of the manifest and no other. @throws AgentError */
export async function runEntryPoint(
  flow: LoadedFlow,
  request: ExecutionRequest,
  { ports, signal, onEvent, onText }: RunParts,
): Promise<FlowResult> {
  for await (const event of runFlow(flow, request, ports, signal)) {
    if (event.type === 'result') return event.result;
    if (event.type === 'failed') throw new AgentError(codes[event.code] ?? 'flow_failed', event.code);
    if (event.type !== 'text') onEvent(event);
    // A text that was queued before the abort must not be sent after it.
    else if (!signal.aborted) await onText?.(event.text);
  }
  throw new AgentError('internal');
}
