import { v7 as uuid } from 'uuid';
import type { FlowPorts } from '#flow/engine/ports';
import type { RunEvent } from '#flow/engine/run-events';
import type { ExecutionRequest } from '#flow/engine/run-flow';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { AgentCall, CallPart, CheckedResult, ExecutionIdentity } from '../calls/agent-call.ts';
import { asAgentError, atStep } from '../calls/agent-error.ts';
import { buildRequest } from './build-request.ts';
import { checkOutput } from './check-output.ts';
import { guardTexts, type TextGuard } from './guard-texts.ts';
import { refuseFiles } from './refuse-files.ts';
import { runEntryPoint } from './run-entry-point.ts';

/** Receives the events of runs, without texts. */
export type RunObserver = {
  started(request: ExecutionRequest): void;
  event(runId: string, event: RunEvent): void;
  /** @param code of the error; `none` for a result */
  ended(runId: string, code: string): void;
};

export type AgentApplication = {
  readonly agent: LoadedAgent;
  readonly guard: TextGuard;
  readonly ports: FlowPorts;
  readonly observer: RunObserver;
};

/**
 * Steps three to five of a call, the same for every protocol (`agents:order:fixed`): files, input policy, conversion.
 * The protocol completes steps one and two before, and builds step eight from the result. A refusal ends the call, so
 * that no later step runs. The flow has not started yet.
 * @throws AgentError
 */
export async function admitCall(
  { agent, guard }: AgentApplication,
  call: AgentCall,
  identity: ExecutionIdentity,
  { traceId, signal }: { readonly traceId: string; readonly signal: AbortSignal },
): Promise<ExecutionRequest> {
  await atStep('files', () => refuseFiles(call.parts));
  const parts = await atStep('input_guardrails', () => guardParts(agent, guard, call.parts, signal));
  return atStep('conversion', () =>
    buildRequest(agent, { parts, session: call.session, identity, runId: uuid(), traceId }),
  );
}

/** The parts with the texts that the input policy allows. */
async function guardParts(
  { bundle }: LoadedAgent,
  guard: TextGuard,
  parts: readonly CallPart[],
  signal: AbortSignal,
): Promise<readonly CallPart[]> {
  const given = parts.map((part) => (part.kind === 'text' ? part.text : part.data));
  const allowed = await guardTexts(guard, bundle.guardrails.input, 'request', given, signal);
  return parts.map(({ kind }, at): CallPart => {
    const value = allowed[at] ?? null;
    return kind === 'text' ? { kind, text: String(value) } : { kind, data: value };
  });
}

/** Steps six and seven: the entry point, then the output policy and the schema. @throws AgentError */
export async function executeCall(
  { agent, guard, ports, observer }: AgentApplication,
  request: ExecutionRequest,
  signal: AbortSignal,
): Promise<CheckedResult> {
  const { runId } = request;
  observer.started(request);
  try {
    const onEvent = (event: RunEvent): void => observer.event(runId, event);
    const result = await atStep('entry_point', () => runEntryPoint(agent.flow, request, { ports, signal, onEvent }));
    const checked = await atStep('output', () => checkOutput(agent, guard, result, signal));
    observer.ended(runId, 'none');
    return checked;
  } catch (thrown) {
    const error = asAgentError(thrown);
    observer.ended(runId, error.code);
    throw error;
  }
}
