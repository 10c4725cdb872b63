import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { CheckErrorCode } from '#contracts/checks';
import { drainRefused } from '#kit/http/read-body';
import { sendError, traceIdOf } from './error-answer.ts';
import { operations } from './operations.ts';
import type { Operation, RuntimeService } from './runtime-service.ts';

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
    service.logger.error('request_failed', { error: error.name });
    return refuse(context, 'internal');
  });
  return app;
}

function refuse(context: Context<Bindings>, code: CheckErrorCode, operation?: Operation): Response {
  const { incoming, outgoing } = context.env;
  drainRefused(incoming, outgoing);
  sendError(outgoing, code, {
    traceId: traceIdOf(incoming.headers['traceparent']),
    ...(operation === undefined ? {} : { allow: operation.methods.join(', ') }),
  });
  return RESPONSE_ALREADY_SENT;
}
