import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AgentProblem } from '#contracts/agent-state';
import { noUsage } from '#contracts/run-usage';
import { sendJson } from '#kit/http/json-answer';
import type { NodeHandler } from '#kit/http/listen';
import { openTrace } from '#kit/http/trace-context';
import type { Spans } from '#kit/trace/span';
import { AgentError } from '../calls/agent-error.ts';
import { a2aRoutes, answerA2aRoute } from './a2a-routes.ts';
import type { Served } from './agent-server.ts';
import { answerMcpCall } from './answer-mcp-call.ts';
import { type Exchange, noteUsage, refuseA2a, refuseWithProblem } from './exchange.ts';
import { getCard } from './get-card.ts';
import { answerRunRoute, runRouteOf } from './run-routes.ts';

type HandlerOptions = {
  readonly served: () => Served;
  /**
   * Temporary problems of a served version: while it has one, the version is not ready, and its calls are still
   * answered.
   */
  readonly passingProblems: () => readonly AgentProblem[];
  readonly spans: Spans;
  readonly onEnded: (ended: {
    readonly operation: string;
    readonly code: string;
    /** The step of the call that refused it. */
    readonly step: string | undefined;
    readonly seconds: number;
    readonly traceId: string;
  }) => void;
};

const cardPath = '/.well-known/agent-card.json';
const mcpPath = '/mcp';

/** Serves one version: health and card for the operations boundary, the operations of A2A, and MCP. */
export function createHandler({ served, passingProblems, spans, onEnded }: HandlerOptions): NodeHandler {
  return (incoming, outgoing) => {
    const started = performance.now();
    const exchange = openExchange(incoming, outgoing, spans.isRecording);
    const endSpan = spans.begin(exchange.trace, { name: 'agent request', kind: 'server' });
    const current = served();
    void answer(current, exchange, passingProblems).then(({ operation, refusal }) => {
      if (current.kind === 'ready') current.server.readers.answered(outgoing);
      const seconds = (performance.now() - started) / 1_000;
      const { code = 'none', step } = refusal ?? {};
      const attributes = { 'portcullis.operation': operation, 'portcullis.code': code, 'portcullis.step': step };
      if (operation !== 'health') endSpan({ attributes, failed: refusal !== undefined });
      onEnded({
        operation,
        code,
        step,
        seconds,
        traceId: exchange.trace.traceId,
      });
    });
  };
}

function openExchange(incoming: IncomingMessage, outgoing: ServerResponse, isRecording: boolean): Exchange {
  // Clients may escape the colon of a custom verb.
  const target = (incoming.url ?? '/').replace(/%3a/gi, ':');
  const url = URL.parse(target.startsWith('/') ? `http://agent${target}` : target) ?? new URL('http://agent/');
  return { incoming, outgoing, trace: openTrace(incoming.headers['traceparent'], isRecording), url };
}

const unavailable = 'advertised_capability_unavailable';

/**
 * The error code of every call of a version that is not ready: the specific code of the contract if it fits the
 * problem, else the general one.
 */
function unreadyCode(problems: readonly AgentProblem[]): 'not_ready' | typeof unavailable {
  return problems.some(({ code }) => code === unavailable) ? unavailable : 'not_ready';
}

type Ended = { readonly operation: string; readonly refusal: AgentError | undefined };

async function answer(
  served: Served,
  exchange: Exchange,
  passingProblems: HandlerOptions['passingProblems'],
): Promise<Ended> {
  const { incoming, outgoing, url } = exchange;
  const { pathname } = url;
  const method = incoming.method === 'HEAD' ? 'GET' : incoming.method;
  const refused = (operation: string, error: AgentError, allow?: string): Ended => {
    refuseWithProblem(exchange, error, allow === undefined ? {} : { allow });
    return { operation, refusal: error };
  };

  if (pathname === '/health/live' || pathname === '/health/ready') {
    if (method !== 'GET') return refused('health', new AgentError('method_not_allowed'), 'GET, HEAD');
    const own = served.kind === 'ready' ? passingProblems() : served.problems;
    const problems = pathname === '/health/live' ? [] : own;
    const isReady = problems.length === 0;
    sendJson(outgoing, isReady ? 200 : 503, {
      status: isReady ? 'ok' : 'not_ready',
      problems: problems.map(({ code, capability }) => ({ code, ...(capability === undefined ? {} : { capability }) })),
    });
    return { operation: 'health', refusal: undefined };
  }
  const isMcp = pathname === mcpPath;
  const routes = a2aRoutes.filter(({ path }) => path.test(pathname));
  const runRoute = runRouteOf(pathname);
  if (pathname !== cardPath && !isMcp && runRoute === undefined && routes.length === 0) {
    return refused('unknown', new AgentError('not_found'));
  }
  if (served.kind === 'not_ready') {
    const error = new AgentError(unreadyCode(served.problems));
    if (routes.length === 0) return refused('unknown', error);
    // A call that has started no run can be repeated.
    if (routes.some(({ operation }) => operation === 'message:send')) noteUsage(exchange, noUsage);
    refuseA2a(exchange, error);
    return { operation: 'unknown', refusal: error };
  }
  const { server } = served;
  if (pathname === cardPath) {
    if (method !== 'GET') return refused('card', new AgentError('method_not_allowed'), 'GET, HEAD');
    getCard(server, exchange);
    return { operation: 'card', refusal: undefined };
  }
  if (runRoute !== undefined) {
    const { operation } = runRoute;
    if (method !== 'GET') return refused(operation, new AgentError('method_not_allowed'), 'GET, HEAD');
    return { operation, refusal: await answerRunRoute(server, exchange, runRoute) };
  }
  if (isMcp) {
    if (!server.profiles.mcp) return refused('mcp', new AgentError('not_found'));
    return { operation: 'mcp', refusal: await answerMcpCall(server, exchange) };
  }
  if (!server.profiles.a2a) return refused('unknown', new AgentError('not_found'));
  const route = routes.find((one) => one.method === method);
  if (route === undefined) {
    return refused('unknown', new AgentError('method_not_allowed'), routes.map((one) => one.method).join(', '));
  }
  const id = route.path.exec(pathname)?.[1] ?? '';
  return { operation: route.operation, refusal: await answerA2aRoute(server, exchange, route, id) };
}
