import { BudgetMeter, fullBudget } from '#flow/engine/budget';
import type { ExecutionRequest } from '#flow/engine/run-flow';
import { childSpan, type TraceContext } from '#kit/http/trace-context';
import type { JsonValue } from '#kit/json/json-value';
import type { LoadedAgent } from '../bundle/load-agent.ts';
import type { CallPart, ExecutionIdentity } from '../calls/agent-call.ts';
import { AgentError } from '../calls/agent-error.ts';
import { limitRun } from './limit-run.ts';

type RequestParts = {
  readonly parts: readonly CallPart[];
  readonly session: string;
  readonly identity: ExecutionIdentity;
  readonly runId: string;
  /** The span of the request. */
  readonly trace: TraceContext;
};

/**
 * Step five: builds one internal request from the parts that the policy allows and from the trusted context
 * (`agents:order:conversion`). Text becomes the text member of the input; data is the input itself. The context comes
 * from the identity of the call and never from a part.
 * @throws AgentError input_invalid, deadline_exceeded
 */
export function buildRequest(
  { flow, manifest, textMember, bundle }: LoadedAgent,
  { parts, session, identity, runId, trace }: RequestParts,
): ExecutionRequest {
  const input = inputOf(parts, textMember);
  if (flow.checkInput(input).length > 0) throw new AgentError('input_invalid');
  const { subject, actors, tenant, grant } = identity;
  const budget = limitRun(bundle.limits, grant, Date.now());
  if (budget === undefined) throw new AgentError('deadline_exceeded');
  return {
    entrypoint: manifest.flow.entrypoint,
    input,
    context: {
      userId: subject.subject,
      userIssuer: subject.issuer,
      actors: actors.map(({ issuer, subject: name }) => ({ issuer, subject: name })),
      ...(tenant === undefined ? {} : { tenantId: tenant }),
      sessionId: session,
      agentId: bundle.agentId,
      versionId: bundle.versionId,
    },
    runId,
    traceId: trace.traceId,
    trace: childSpan(trace),
    budget,
    meter: new BudgetMeter({ ...fullBudget, ...budget }),
  };
}

/** The parts with all texts joined into one, which the flow reads; each text is a line of it. */
export function joinTexts(parts: readonly CallPart[]): readonly CallPart[] {
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  if (texts.length < 2) return parts;
  return [{ kind: 'text', text: texts.join('\n') }, ...parts.filter(({ kind }) => kind !== 'text')];
}

function inputOf(parts: readonly CallPart[], textMember: string | undefined): JsonValue {
  const [text] = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const data = parts.flatMap((part) => (part.kind === 'data' ? [part.data] : []));
  if (data.length > 1) throw new AgentError('input_invalid');
  const [own = {}] = data;
  if (text === undefined) return own;
  const isObject = typeof own === 'object' && own !== null && !Array.isArray(own);
  if (textMember === undefined || !isObject || Object.hasOwn(own, textMember)) throw new AgentError('input_invalid');
  return { ...own, [textMember]: text };
}
