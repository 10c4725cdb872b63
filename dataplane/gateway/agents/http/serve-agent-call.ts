import type { IncomingMessage, ServerResponse } from 'node:http';
import { openTrace } from '#kit/http/trace-context';
import { describeFailure } from '#kit/log/describe-failure';
import { boundUnread } from '../../relay/bound-unread.ts';
import { beginRequest, Interruption, type RequestLife } from '../../relay/interruption.ts';
import { admitAgentCall } from '../calls/admit-agent-call.ts';
import { admitRunsRead } from '../calls/admit-runs-read.ts';
import { AgentRefusal } from '../calls/agent-refusal.ts';
import type { CallOrigin } from '../calls/identify-caller.ts';
import { callByMethod, cardOperation, parseCall, type RoutedCall, runsOperation } from '../calls/parse-call.ts';
import { type AgentExchange, refuseCall } from '../calls/refuse-call.ts';
import { serveSignedCard } from '../cards/serve-signed-card.ts';
import type { CallCode } from '../metrics/agent-call-metrics.ts';
import { type ForwardedCall, forwardCall } from '../relay/forward-call.ts';
import type { AgentPlane } from './agent-plane.ts';

/** Longest call, milliseconds; calls end earlier by the limits of their version. */
const maxCallMs = 930_000;
/**
 * The id for which rights are checked if a path names no agent, so that the check costs as much as that of any other
 * missing agent.
 */
const noAgent = '00000000-0000-7000-8000-000000000000';

export const agentPrefix = '/agents/';

type Facts = { agent: string; versionId: string; readonly forwarded: ForwardedCall };

/** Answers one request below /agents/, counts it and writes its log line. Never rejects. */
export async function serveAgentCall(
  plane: AgentPlane,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const started = performance.now();
  const trace = openTrace(incoming.headers['traceparent'], plane.spans.isRecording);
  const endSpan = plane.spans.begin(trace, { name: 'gateway agent call', kind: 'server' });
  const exchange: AgentExchange = { incoming, outgoing, trace };
  using life = beginRequest(plane.shutdown, maxCallMs);
  const onClose = (): void => {
    if (!outgoing.writableFinished) life.interrupt('client_gone');
  };
  outgoing.once('close', onClose);
  const call = parseCall(incoming.url ?? '/');
  const forwarded: ForwardedCall = {
    ...{ isRun: false, reached: false, status: undefined },
    ...{ sent: 0, received: 0, counted: undefined },
  };
  const facts: Facts = { agent: '', versionId: '', forwarded };
  const code = await answer(plane, call, { exchange, life, facts });
  boundUnread(outgoing, plane.clientIdleMs);
  const seconds = (performance.now() - started) / 1_000;
  const operation = call?.operation.name ?? 'unknown';
  const { agent, versionId } = facts;
  const { sent, received, status } = forwarded;
  const hasStarted = forwarded.isRun && forwarded.reached;
  endSpan({
    attributes: {
      'portcullis.operation': operation,
      'portcullis.code': code,
      'portcullis.agent.name': agent,
      'portcullis.agent.version': versionId,
      'http.response.status_code': status,
    },
    failed: code !== 'none',
  });
  plane.metrics.ended({ agent, operation, code, seconds, sent, received, hasStarted });
  plane.logger.info('agent_call_ended', {
    traceId: exchange.trace.traceId,
    operation,
    code,
    agent,
    version: versionId,
    status,
    durationMs: Math.round(seconds * 1_000),
  });
  await forwarded.counted;
}

type Answering = { readonly exchange: AgentExchange; readonly life: RequestLife; readonly facts: Facts };

async function answer(plane: AgentPlane, call: RoutedCall | undefined, answering: Answering): Promise<CallCode> {
  try {
    if (call === undefined) await refuseUnknownPath(plane, answering.exchange);
    else if (call.operation === runsOperation) await answerRuns(plane, call, answering);
    else await answerCall(plane, call, answering);
    return 'none';
  } catch (thrown) {
    const refusal = refusalOf(plane, thrown, answering.life);
    const { outgoing } = answering.exchange;
    if (refusal.code === 'cancelled' || outgoing.headersSent) outgoing.destroy();
    else {
      const isMcp = call?.operation.mode === 'MCP';
      refuseCall(answering.exchange, refusal, { isMcp, reached: answering.facts.forwarded.reached });
    }
    return refusal.code;
  }
}

async function answerCall(plane: AgentPlane, routed: RoutedCall, { exchange, life, facts }: Answering): Promise<void> {
  const { incoming } = exchange;
  const method = incoming.method ?? 'GET';
  const admitted = await admitAgentCall(plane, routed, method, originOf(incoming));
  const call = callByMethod(routed, method);
  using _pin = admitted.pin;
  facts.agent = admitted.spec.agent.name;
  facts.versionId = admitted.version.versionId;
  const { caller } = admitted;
  if (call.operation === cardOperation || caller === undefined) {
    return await serveSignedCard(plane, admitted.version, exchange);
  }
  const { forwarded } = facts;
  await forwardCall(plane, { call, admitted: { ...admitted, caller }, exchange, life, forwarded });
}

function originOf({ rawHeaders, socket }: IncomingMessage): CallOrigin {
  return { rawHeaders, remoteAddress: socket.remoteAddress };
}

/** A path that belongs to no agent: the caller is identified and checked as for every missing agent. */
async function refuseUnknownPath(plane: AgentPlane, { incoming }: AgentExchange): Promise<never> {
  const call: RoutedCall = { agentId: noAgent, versionId: undefined, operation: cardOperation, path: '/' };
  const { pin } = await admitAgentCall(plane, call, 'GET', originOf(incoming));
  pin[Symbol.dispose]();
  throw new AgentRefusal('not_found');
}

function refusalOf({ logger }: AgentPlane, thrown: unknown, { signal }: RequestLife): AgentRefusal {
  if (thrown instanceof AgentRefusal) return thrown;
  const reason = signal.aborted && thrown === signal.reason ? signal.reason : thrown;
  if (reason instanceof Interruption) {
    if (reason.code === 'client_gone') return new AgentRefusal('cancelled');
    return new AgentRefusal(reason.code === 'too_long' ? 'deadline_exceeded' : 'shutting_down');
  }
  logger.error('agent_call_failed', { failure: describeFailure(thrown) });
  return new AgentRefusal('internal');
}

async function answerRuns(plane: AgentPlane, asked: RoutedCall, { exchange, life, facts }: Answering): Promise<void> {
  const { incoming } = exchange;
  const { admitted, call } = await admitRunsRead(plane, asked, incoming.method ?? 'GET', originOf(incoming));
  using _pin = admitted.pin;
  facts.agent = admitted.spec.agent.name;
  facts.versionId = admitted.version.versionId;
  await forwardCall(plane, { call, admitted, exchange, life, forwarded: facts.forwarded });
}
