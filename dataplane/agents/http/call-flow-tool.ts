import type { TraceContext } from '#kit/http/trace-context';
import type { JsonValue } from '#kit/json/json-value';
import type { ToolOutcome } from '#mcp/answer-message';
import type { ExecutionIdentity } from '../calls/agent-call.ts';
import { type AgentError, asAgentError, atStep } from '../calls/agent-error.ts';
import { admitCall, executeCall } from '../steps/process-call.ts';
import type { AgentServer } from './agent-server.ts';

type ToolCall = {
  readonly identity: ExecutionIdentity;
  readonly session: string;
  /** The span of the request. */
  readonly trace: TraceContext;
  readonly signal: AbortSignal;
  /** Called with the refusal of the call, which its result reports. */
  readonly onRefused: (error: AgentError) => void;
};

/**
 * tools/call: the arguments are one structured part of a call (`agents:mcp:call-shared-flow`). A refusal is a tool
 * result that reports an error, with the stable code and the trace id.
 */
export async function callFlowTool(
  { application, slots }: AgentServer,
  args: Record<string, JsonValue>,
  { identity, session, trace, signal, onRefused }: ToolCall,
): Promise<ToolOutcome> {
  let release: (() => void) | undefined;
  try {
    release = await atStep('files', () => slots.take());
    const call = { parts: [{ kind: 'data', data: args }], session } as const;
    const request = await admitCall(application, call, identity, { operation: 'mcp', trace, signal });
    const result = await executeCall(application, request, signal);
    return await atStep('result', () => ({ kind: 'result', value: structured(result.data, result.text) }));
  } catch (thrown) {
    const error = asAgentError(thrown);
    onRefused(error);
    const { code, message, flowCode } = error;
    return {
      kind: 'refused',
      code,
      message,
      details: { traceId: trace.traceId, ...(flowCode === undefined ? {} : { flowCode }) },
    };
  } finally {
    release?.();
  }
}

/** The value that was checked against the output schema: data, or the text as an object. */
function structured(data: JsonValue | undefined, text: string | undefined): Readonly<Record<string, JsonValue>> {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return isObject ? data : { text: text ?? '' };
}
