import type { IncomingMessage, ServerResponse } from 'node:http';
import { agentGatewayErrors } from '#contracts/agent-gateway-errors';
import { noUsage, runUsageHeader, writeRunUsage } from '#contracts/run-usage';
import { isAgentCallToken } from '#identity/agent-call-token';
import { readBearer } from '#identity/read-bearer';
import { sendBytes } from '#kit/http/json-answer';
import { drainRefused } from '#kit/http/read-body';
import type { TraceContext } from '#kit/http/trace-context';
import type { AgentRefusal } from './agent-refusal.ts';

/** One request for an agent and its answer. */
export type AgentExchange = {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly trace: TraceContext;
};

type RefusedCall = {
  readonly isMcp: boolean;
  /** Whether the process of the agent may have received the call, so that it may have run. */
  readonly reached: boolean;
};

function isFromAgent({ rawHeaders }: IncomingMessage): boolean {
  const bearer = readBearer(rawHeaders);
  return bearer.kind === 'bearer' && isAgentCallToken(bearer.token);
}

const infoType = 'type.googleapis.com/google.rpc.ErrorInfo';

/**
 * The body of a refusal in the HTTP+JSON binding of A2A (google.rpc.Status): one ErrorInfo for each reason that A2A defines, then
 * one for the code of the gateway.
 */
export function refusalBody({ code }: Pick<AgentRefusal, 'code'>, traceId: string): Buffer {
  const { status, rpc, meaning, a2a } = agentGatewayErrors[code];
  const infos = [
    ...a2a.map((reason) => ({ reason, domain: 'a2a-protocol.org' })),
    { reason: code, domain: 'portcullis' },
  ];
  const details = infos.map((info) => ({ '@type': infoType, ...info, metadata: { code, traceId } }));
  return Buffer.from(JSON.stringify({ error: { code: status, status: rpc, message: meaning, details } }));
}

/**
 * Answers with a refusal: google.rpc.Status on paths of A2A; on paths of MCP application/problem+json (RFC 9457), or an
 * error of JSON-RPC for a message that the agent does not offer. The refusal does not depend on the agent. The refusal
 * reports an empty usage, from which a calling agent learns that its call has started no run and can be repeated. If an
 * answer has begun, nothing is sent.
 */
export function refuseCall(
  { incoming, outgoing, trace }: AgentExchange,
  refusal: AgentRefusal,
  { isMcp, reached }: RefusedCall,
): void {
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (!incoming.complete) drainRefused(incoming, outgoing);
  const { code } = refusal;
  const { status, meaning } = agentGatewayErrors[code];
  const headers = {
    traceparent: trace.traceparent,
    'cache-control': 'no-store',
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...(status === 503 ? { 'retry-after': '1' } : {}),
    ...(!reached && isFromAgent(incoming) ? { [runUsageHeader]: writeRunUsage(noUsage) } : {}),
    ...refusal.headers,
  };
  if (!isMcp) {
    sendBytes(outgoing, status, 'application/json', refusalBody(refusal, trace.traceId), headers);
    return;
  }
  if (refusal.rpc !== undefined) {
    const { id, rpcCode } = refusal.rpc;
    const error = { code: rpcCode, message: meaning, data: { code, traceId: trace.traceId } };
    const answer = { jsonrpc: '2.0', id: id ?? null, error };
    sendBytes(outgoing, 200, 'application/json', Buffer.from(JSON.stringify(answer)), headers);
    return;
  }
  const problem = { type: 'about:blank', title: meaning, status, code, traceId: trace.traceId };
  sendBytes(outgoing, status, 'application/problem+json', Buffer.from(JSON.stringify(problem)), headers);
}
