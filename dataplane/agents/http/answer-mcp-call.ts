import { agentErrors } from '#contracts/agent-errors';
import { confirmerName } from '#identity/mcp-confirmers';
import type { TakenBytes } from '#kit/http/byte-budget';
import { sendJson } from '#kit/http/json-answer';
import { headerValues } from '#kit/http/raw-headers';
import { drainRefused } from '#kit/http/read-body';
import type { JsonValue } from '#kit/json/json-value';
import { answerMessage } from '#mcp/answer-message';
import { headerFault } from '#mcp/check-headers';
import { type ClientMessage, clientMessageSchema, rpcErrors } from '#mcp/message';
import { callerKey, type ExecutionIdentity } from '../calls/agent-call.ts';
import { AgentError, asAgentError, atStep } from '../calls/agent-error.ts';
import { describeServer } from '../mcp/describe-server.ts';
import type { Session } from '../mcp/session-store.ts';
import type { AgentServer } from './agent-server.ts';
import { callFlowTool } from './call-flow-tool.ts';
import {
  answerHeaders,
  checkContentType,
  type Exchange,
  onDeparture,
  readJsonBytes,
  receive,
  refuseWithProblem,
} from './exchange.ts';

const sessionHeader = 'mcp-session-id';
const allowed = 'POST, DELETE';

/**
 * Answers one request of an MCP client with the same steps as every other call.
 * @returns the refusal, including a refusal that a result or an error of JSON-RPC reports
 */
export async function answerMcpCall(server: AgentServer, exchange: Exchange): Promise<AgentError | undefined> {
  const { incoming, outgoing } = exchange;
  try {
    if (incoming.method !== 'POST' && incoming.method !== 'DELETE') throw new AgentError('method_not_allowed');
    const { body, identity } = await admitRequest(server, exchange);
    if (incoming.method === 'DELETE') {
      server.sessions.end(await atStep('files', () => sessionOf(server, exchange, identity)));
      outgoing.writeHead(204, answerHeaders(exchange)).end();
      return undefined;
    }
    return await answerPost(server, exchange, identity, body);
  } catch (thrown) {
    const error = asAgentError(thrown);
    if (error.code === 'invalid_request') refuseMessage(exchange, error);
    else refuseWithProblem(exchange, error, error.code === 'method_not_allowed' ? { allow: allowed } : {});
    return error;
  }
}

/**
 * Takes steps one and two of an MCP call. The body counts in the budget of bodies until its call has a place of a run.
 */
async function admitRequest(
  server: AgentServer,
  exchange: Exchange,
): Promise<{ readonly body: Buffer; readonly identity: ExecutionIdentity }> {
  using held = server.bodies.open();
  const body = await atStep('protocol', () => checkMcpProtocol(server, exchange, held));
  const identity = await atStep('identity', () => verify(server, exchange));
  return { body, identity };
}

/** Step one of an MCP call: checks origin, version, media types and size. */
async function checkMcpProtocol({ agent }: AgentServer, exchange: Exchange, held: TakenBytes): Promise<Buffer> {
  const { incoming } = exchange;
  const fault = headerFault(incoming.headers, ['2025-11-25']);
  if (fault === 'foreign_origin') throw new AgentError('forbidden');
  if (fault !== undefined) throw new AgentError('version_not_supported');
  if (incoming.method === 'DELETE') return Buffer.alloc(0);
  checkContentType(exchange);
  const accepted = (incoming.headers.accept ?? '').split(',').map((one) => one.split(';')[0]?.trim());
  const takes = (type: string): boolean => accepted.includes(type) || accepted.includes('*/*');
  if (!takes('application/json') || !takes('text/event-stream')) throw new AgentError('not_acceptable');
  return receive(exchange, agent.bundle.limits.requestBytes, held);
}

/**
 * Step two of MCP: the identity of the call, which must be a confirmer of this profile unless the gateway admits with
 * R2.
 */
async function verify({ verifier, mcpConfirmers }: AgentServer, { incoming }: Exchange): Promise<ExecutionIdentity> {
  const identity = await verifier.verify(incoming.rawHeaders, 'mcp');
  if (identity.exposure === 'R1' && !mcpConfirmers.has(confirmerName(identity.subject)))
    throw new AgentError('not_found');
  return identity;
}

/**
 * @throws AgentError invalid_request for a request without a session, session_not_found for a session that the caller
 * does not own
 */
function sessionOf({ sessions }: AgentServer, { incoming }: Exchange, identity: ExecutionIdentity): Session {
  const [id, ...more] = headerValues(incoming.rawHeaders, sessionHeader);
  if (id === undefined || more.length > 0) throw new AgentError('invalid_request');
  const session = sessions.find(callerKey(identity), id);
  if (session === undefined) throw new AgentError('session_not_found');
  return session;
}

/** A body that is no JSON text, for which JSON-RPC has a code of its own. */
class NoJsonError extends AgentError {
  constructor() {
    super('invalid_request');
  }
}

/** @throws AgentError invalid_request */
function readMessage(body: Buffer): ClientMessage {
  const read = clientMessageSchema.safeParse(readBody(body));
  if (!read.success) throw new AgentError('invalid_request');
  return read.data;
}

function readBody(body: Buffer): JsonValue {
  try {
    return readJsonBytes(body);
  } catch (thrown) {
    throw thrown instanceof AgentError ? new NoJsonError() : thrown;
  }
}

async function answerPost(
  server: AgentServer,
  exchange: Exchange,
  identity: ExecutionIdentity,
  body: Buffer,
): Promise<AgentError | undefined> {
  const { outgoing } = exchange;
  const message = await atStep('files', () => readMessage(body));
  if (message.method === 'initialize') {
    return await atStep('files', () => initialize(server, exchange, identity, message));
  }
  const session = await atStep('files', () => sessionOf(server, exchange, identity));
  if (message.id === undefined || message.method === undefined) {
    noteNotification(session, message);
    outgoing.writeHead(202, answerHeaders(exchange)).end();
    return undefined;
  }
  const { id, method } = message;
  if (!session.isInitialized && method !== 'ping') {
    const error = { code: rpcErrors.invalidRequest, message: 'the session is not initialized' };
    sendJson(outgoing, 200, { jsonrpc: '2.0', id, error }, answerHeaders(exchange));
    return invalidMessage();
  }
  const controller = new AbortController();
  await atStep('files', () => {
    // Two calls with the same id are refused, because a cancellation could not distinguish them.
    if (session.calls.has(id)) throw new AgentError('invalid_request');
    session.calls.set(id, controller);
  });
  // A client that leaves has not cancelled (MCP 2025-11-25, transports), but its answer can no longer reach it.
  let unwatched: NodeJS.Timeout | undefined;
  onDeparture(exchange, () => {
    if (session.calls.get(id) !== controller) return;
    unwatched = setTimeout(() => controller.abort(), server.unwatchedMs);
  });
  let refusal: AgentError | undefined;
  try {
    const { signal } = controller;
    const answer = await answerMessage(describeServer(server.agent), message, (args) =>
      callFlowTool(server, args as Record<string, JsonValue>, {
        identity,
        session: session.id,
        trace: exchange.trace,
        signal,
        onRefused(error) {
          refusal = error;
        },
      }),
    );
    if (answer?.error !== undefined) refusal = invalidMessage();
    // A cancelled request has no answer (MCP 2025-11-25, cancellation).
    if (outgoing.destroyed) return refusal;
    if (signal.aborted) outgoing.writeHead(202, answerHeaders(exchange)).end();
    else sendJson(outgoing, 200, answer, answerHeaders(exchange));
    return refusal;
  } finally {
    clearTimeout(unwatched);
    session.calls.delete(id);
  }
}

async function initialize(
  server: AgentServer,
  exchange: Exchange,
  identity: ExecutionIdentity,
  message: ClientMessage,
): Promise<AgentError | undefined> {
  const never = async (): Promise<never> => {
    throw new AgentError('invalid_request');
  };
  const answer = await answerMessage(describeServer(server.agent), message, never);
  if (answer === undefined) throw new AgentError('invalid_request');
  const opened = answer.error === undefined ? server.sessions.open(callerKey(identity)) : undefined;
  const headers = opened === undefined ? {} : { [sessionHeader]: opened.id };
  sendJson(exchange.outgoing, 200, answer, { ...answerHeaders(exchange), ...headers });
  return opened === undefined ? invalidMessage() : undefined;
}

/** The refusal of a message that the protocol answers with an error of JSON-RPC. */
function invalidMessage(): AgentError {
  const error = new AgentError('invalid_request');
  error.step = 'files';
  return error;
}

function noteNotification(session: Session, { method, params }: ClientMessage): void {
  if (method === 'notifications/initialized') session.isInitialized = true;
  if (method !== 'notifications/cancelled') return;
  const id = params?.['requestId'];
  if (typeof id === 'string' || typeof id === 'number') session.calls.get(id)?.abort();
}

/** A body that is not a message of the protocol gets a JSON-RPC error without an id. */
function refuseMessage(exchange: Exchange, refusal: AgentError): void {
  const { code } = refusal;
  const { incoming, outgoing, trace } = exchange;
  if (outgoing.headersSent || outgoing.destroyed) return;
  if (!incoming.complete) drainRefused(incoming, outgoing);
  const { status, meaning } = agentErrors[code];
  const rpcCode = refusal instanceof NoJsonError ? rpcErrors.parseError : rpcErrors.invalidRequest;
  const error = { code: rpcCode, message: meaning, data: { code, traceId: trace.traceId } };
  sendJson(outgoing, status, { jsonrpc: '2.0', id: null, error }, answerHeaders(exchange));
}
