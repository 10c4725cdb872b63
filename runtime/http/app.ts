import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { CheckErrorCode } from '#contracts/checks';
import type { DirectHandler } from '#kit/http/listen';
import { drainRefused } from '#kit/http/read-body';
import { traceIdOf } from '#kit/http/trace-context';
import { checkEndpoints, endpoints } from './endpoints.ts';
import { sendError } from './error-answer.ts';
import type { Endpoint, HttpExchange, RuntimeService } from './runtime-service.ts';

type Bindings = { Bindings: HttpBindings };

/**
 * All routes of the runtime (`guardrail:endpoints:*`): another path is answered with 404, another method with 405, in
 * the error body of the runtime. Endpoints read Node's raw header list and write to Node's response themselves.
 */
export function createRuntimeApp(service: RuntimeService): Hono<Bindings> {
  const app = new Hono<Bindings>();
  for (const endpoint of endpoints) {
    app.on([...endpoint.methods], endpoint.path, async (context) => {
      await endpoint.answer(context.env, service);
      return RESPONSE_ALREADY_SENT;
    });
    app.all(endpoint.path, (context) => refuse(context, 'method_not_allowed', endpoint));
  }
  app.notFound((context) => refuse(context, 'not_found'));
  app.onError((error, context) => {
    logFailedRequest(service, error);
    return refuse(context, 'internal');
  });
  return app;
}

/**
 * Answers checks without the request objects of the framework, which cost as much as judging a short text: the route is
 * the whole request target, and the answer is written to the response of Node in both cases.
 */
export function createDirectChecks(service: RuntimeService): DirectHandler {
  const checks = new Map(checkEndpoints.map((endpoint) => [endpoint.path, endpoint]));
  return (incoming, outgoing) => {
    const endpoint = incoming.method === 'POST' ? checks.get(incoming.url ?? '') : undefined;
    return endpoint === undefined ? undefined : answerDirectly(endpoint, { incoming, outgoing }, service);
  };
}

async function answerDirectly(endpoint: Endpoint, request: HttpExchange, service: RuntimeService): Promise<void> {
  try {
    await endpoint.answer(request, service);
  } catch (error) {
    logFailedRequest(service, error);
    refuseRequest(request, 'internal');
  }
}

function logFailedRequest({ logger }: RuntimeService, error: unknown): void {
  logger.error('request_failed', { error: error instanceof Error ? error.name : typeof error });
}

function refuse(context: Context<Bindings>, code: CheckErrorCode, endpoint?: Endpoint): Response {
  refuseRequest(context.env, code, endpoint);
  return RESPONSE_ALREADY_SENT;
}

function refuseRequest({ incoming, outgoing }: HttpExchange, code: CheckErrorCode, endpoint?: Endpoint): void {
  drainRefused(incoming, outgoing);
  sendError(outgoing, code, {
    traceId: traceIdOf(incoming.headers['traceparent']),
    ...(endpoint === undefined ? {} : { allow: endpoint.methods.join(', ') }),
  });
}
