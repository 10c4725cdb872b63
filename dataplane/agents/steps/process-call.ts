import { v7 as uuid } from 'uuid';
import { traceChecks } from '#checks/trace-checks';
import type { FlowPorts } from '#flow/engine/ports';
import type { RunEvent } from '#flow/engine/run-events';
import type { ExecutionRequest } from '#flow/engine/run-flow';
import type { TraceContext } from '#kit/http/trace-context';
import type { Spans } from '#kit/trace/span';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { AgentCall, CallPart, CheckedResult, ExecutionIdentity } from '../calls/agent-call.ts';
import { type AgentError, asAgentError, atStep } from '../calls/agent-error.ts';
import type { CallFiles } from '../files/call-files.ts';
import type { RunGrants } from '../grants/run-grants.ts';
import type { CallOperation } from '../identity/call-verifier.ts';
import { buildRequest, joinTexts } from './build-request.ts';
import { checkOutput } from './check-output.ts';
import { guardTexts, type TextGuard } from './guard-texts.ts';
import { runEntryPoint } from './run-entry-point.ts';
import { finishText, openTextStream } from './stream-result.ts';

/** Receives the events of runs, without texts. */
export type RunObserver = {
  started(request: ExecutionRequest): void;
  event(runId: string, event: RunEvent): void;
  /** @param code the code of the error that ended the call; `none` if the call returned a result */
  ended(runId: string, code: string, cause?: RunFailure): void;
};

/** The step at which a call failed, and the error of the flow. */
export type RunFailure = Partial<Pick<AgentError, 'step' | 'flowCode'>>;

export type AgentApplication = {
  readonly agent: LoadedAgent;
  readonly guard: TextGuard;
  readonly files: CallFiles;
  readonly grants: RunGrants;
  readonly ports: FlowPorts;
  readonly observer: RunObserver;
  readonly spans: Spans;
};

type CallFacts = {
  readonly operation: CallOperation;
  /** The span of the request. */
  readonly trace: TraceContext;
  readonly signal: AbortSignal;
};

/**
 * Steps three to five of a call, the same for every protocol (`agents:order:fixed`): files, input policy, conversion.
 * The protocol completes steps one and two before, and builds step eight from the result. A refusal ends the call, so
 * that no later step runs. The flow starts later.
 * @throws AgentError
 */
export async function admitCall(
  { agent, guard: untraced, files, grants, spans }: AgentApplication,
  call: AgentCall,
  identity: ExecutionIdentity,
  { operation, trace, signal }: CallFacts,
): Promise<ExecutionRequest> {
  const runId = uuid();
  const guard = traceGuard(untraced, spans, trace);
  const { session } = call;
  const use = { ...bindingOf(agent, identity), operation, session, runId };
  try {
    const resolved = await atStep('files', () => files.resolve(call.parts, use, signal));
    const parts = await atStep('input_guardrails', () => guardParts({ agent, guard, files }, resolved, runId, signal));
    const request = await atStep('conversion', () => buildRequest(agent, { parts, session, identity, runId, trace }));
    grants.start(runId, identity.grant?.token);
    return request;
  } catch (error) {
    await files.end(runId);
    throw error;
  }
}

/** The guard of one call: the spans of its checks belong to the trace of the call. */
function traceGuard({ checks, policies }: TextGuard, spans: Spans, parent: TraceContext): TextGuard {
  return { policies, checks: traceChecks(checks, spans, parent) };
}

/** The agent and the identity to which a file reference must be bound. */
function bindingOf({ bundle: { agentId, versionId } }: LoadedAgent, { subject, actors }: ExecutionIdentity) {
  const plain = ({ issuer, subject: name }: ExecutionIdentity['subject']) => ({ issuer, subject: name });
  return { agentId, versionId, subject: plain(subject), actors: actors.map(plain) };
}

/**
 * Returns the parts, and the texts of the files of the run, as the input policy allows them. All texts of a message are
 * judged as one text of any length, which the flow reads, so that a text in two parts gets the same decision as the
 * same text in one part.
 */
async function guardParts(
  { agent: { bundle }, guard, files }: Pick<AgentApplication, 'agent' | 'guard' | 'files'>,
  sent: readonly CallPart[],
  runId: string,
  signal: AbortSignal,
): Promise<readonly CallPart[]> {
  const parts = joinTexts(sent);
  const given = [...parts.map((part) => (part.kind === 'text' ? part.text : part.data)), ...files.texts(runId)];
  const allowed = await guardTexts(guard, bundle.guardrails.input, 'request', given, signal);
  files.setTexts(runId, allowed.slice(parts.length).map(String));
  return parts.map(({ kind }, at): CallPart => {
    const value = allowed[at] ?? null;
    return kind === 'text' ? { kind, text: String(value) } : { kind, data: value };
  });
}

/**
 * Takes steps six and seven of a call: runs the flow from the entry point, then applies the output policy and the
 * schema.
 * @param onReleased receives parts of the text that have passed while the run continues; without it no text is sent
 * before the result
 * @throws AgentError
 */
export async function executeCall(
  { agent, guard: untraced, files, grants, ports, observer, spans }: AgentApplication,
  request: ExecutionRequest,
  signal: AbortSignal,
  onReleased?: (text: string) => void,
): Promise<CheckedResult> {
  const { runId, trace } = request;
  const guard = trace === undefined ? untraced : traceGuard(untraced, spans, trace);
  const stream = onReleased === undefined ? undefined : openTextStream({ agent, guard }, signal, onReleased);
  const textOf = stream === undefined ? new Set<string>() : agent.streamed;
  const onText = stream === undefined ? undefined : (text: string) => atStep('output', () => stream.add(text));
  observer.started(request);
  try {
    const onEvent = (event: RunEvent): void => observer.event(runId, event);
    const parts = { ports, signal, onEvent, onText };
    const result = await atStep('entry_point', () => runEntryPoint(agent.flow, { ...request, textOf }, parts));
    const checked = await atStep('output', () =>
      stream?.hasBegun === true ? finishText(agent, stream, result) : checkOutput(agent, guard, result, signal),
    );
    observer.ended(runId, 'none');
    return checked;
  } catch (thrown) {
    const error = asAgentError(thrown);
    observer.ended(runId, error.code, error);
    throw error;
  } finally {
    grants.end(runId);
    await files.end(runId);
  }
}
