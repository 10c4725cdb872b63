import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { CheckErrorCode } from '#contracts/checks';
import type { DirectHandler } from '#kit/http/listen';
import { drainRefused } from '#kit/http/read-body';
import { sendError, traceIdOf } from './error-answer.ts';
import { operations } from './operations.ts';
import { postRequest } from './post-request.ts';
import { postResponse } from './post-response.ts';
import type { Exchange, Operation, RuntimeService } from './runtime-service.ts';

type Bindings = { Bindings: HttpBindings };

/**
 * The routes of the runtime (document 1, section 4) and nothing else: another path is 404, another method 405, in the
 * error body of section 2.5 (reading 10). Operations write to Node's answer themselves, on its raw header list.
 */
export function createApp(service: RuntimeService): Hono<Bindings> {
  const app = new Hono<Bindings>();
  for (const operation of operations) {
    app.on([...operation.methods], operation.path, async (context) => {
      await operation.answer(context.env, service);
      return RESPONSE_ALREADY_SENT;
    });
    app.all(operation.path, (context) => refuse(context, 'method_not_allowed', operation));
  }
  app.notFound((context) => refuse(context, 'not_found'));
  app.onError((error, context) => {
    logFailedRequest(service, error);
    return refuse(context, 'internal');
  });
  return app;
}

/**
 * The same answers for checks without the objects that the framework makes for a request, which cost as much as judging
 * a short text: the route is the whole request target, and all that is written is written to Node's answer anyway.
 */
export function createDirectChecks(service: RuntimeService): DirectHandler {
  const checks = new Map([postRequest, postResponse].map((operation) => [operation.path, operation]));
  return (incoming, outgoing) => {
    const operation = incoming.method === 'POST' ? checks.get(incoming.url ?? '') : undefined;
    return operation === undefined ? undefined : answerDirectly(operation, { incoming, outgoing }, service);
  };
}

async function answerDirectly(operation: Operation, exchange: Exchange, service: RuntimeService): Promise<void> {
  try {
    await operation.answer(exchange, service);
  } catch (error) {
    logFailedRequest(service, error);
    refuseExchange(exchange, 'internal');
  }
}

function logFailedRequest({ logger }: RuntimeService, error: unknown): void {
  logger.error('request_failed', { error: error instanceof Error ? error.name : typeof error });
}

function refuse(context: Context<Bindings>, code: CheckErrorCode, operation?: Operation): Response {
  refuseExchange(context.env, code, operation);
  return RESPONSE_ALREADY_SENT;
}

function refuseExchange({ incoming, outgoing }: Exchange, code: CheckErrorCode, operation?: Operation): void {
  drainRefused(incoming, outgoing);
  sendError(outgoing, code, {
    traceId: traceIdOf(incoming.headers['traceparent']),
    ...(operation === undefined ? {} : { allow: operation.methods.join(', ') }),
  });
}
