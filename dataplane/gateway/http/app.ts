import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { ClientFault, DirectHandler, FaultAnswer } from '#kit/http/listen';
import { drainRefused } from '#kit/http/read-body';
import { type ClientErrorCode, plainError } from '../relay/client-error.ts';
import { completeChat } from './complete-chat.ts';
import { createEmbedding } from './create-embedding.ts';
import { createRerank } from './create-rerank.ts';
import { createResponse } from './create-response.ts';
import { errorAnswer } from './errors.ts';
import { getModel, listModels } from './list-models.ts';
import type { Gateway } from './request-context.ts';
import { type GatewayOperation, runOperation, sendClientError } from './run-operation.ts';

type Env = { Bindings: HttpBindings };

const chat: GatewayOperation = { name: 'chat', run: completeChat };
const responses: GatewayOperation = { name: 'responses', run: createResponse };
const embeddings: GatewayOperation = { name: 'embeddings', run: createEmbedding };
const rerank: GatewayOperation = { name: 'rerank', run: createRerank };
const models: GatewayOperation = { name: 'models', run: listModels };
const model = (alias: string): GatewayOperation => ({ name: 'models', run: (context) => getModel(context, alias) });

/** Longest path with query, in bytes; a longer path is answered with 414. */
const maxPathBytes = 8_192;

/**
 * The gateway's HTTP routes for clients of models. Handlers write to Node's own response, because only that response
 * reports back-pressure.
 * @param agents answers requests for agents; `listen` calls it first, except for unusual host names
 */
export function createGatewayApp(gateway: Gateway, agents?: DirectHandler): Hono<Env> {
  const app = new Hono<Env>();
  const serve = (operation: GatewayOperation) => async (context: Context<Env>) => {
    await runOperation(gateway, operation, context.env.incoming, context.env.outgoing);
    return RESPONSE_ALREADY_SENT;
  };
  const refuse = (code: 'not_found' | 'method_not_allowed' | 'path_too_long') => (context: Context<Env>) => {
    const { incoming, outgoing } = context.env;
    drainRefused(incoming, outgoing);
    sendClientError(incoming, outgoing, plainError(code));
    return RESPONSE_ALREADY_SENT;
  };
  app.use(async (context, next) => {
    if ((context.env.incoming.url ?? '').length > maxPathBytes) return refuse('path_too_long')(context);
    return next();
  });
  app.use(async (context, next) => {
    const answered = agents?.(context.env.incoming, context.env.outgoing);
    if (answered === undefined) return next();
    await answered;
    return RESPONSE_ALREADY_SENT;
  });
  app.post('/v1/chat/completions', serve(chat)).all(refuse('method_not_allowed'));
  app.post('/v1/responses', serve(responses)).all(refuse('method_not_allowed'));
  app.post('/v1/embeddings', serve(embeddings)).all(refuse('method_not_allowed'));
  app.post('/v1/rerank', serve(rerank)).all(refuse('method_not_allowed'));
  app.get('/v1/models', serve(models)).all(refuse('method_not_allowed'));
  // An alias may contain slashes, as model names of many providers do.
  app.get('/v1/models/:alias{.+}', (context) => serve(model(context.req.param('alias')))(context));
  app.all('/v1/models/*', refuse('method_not_allowed'));
  app.notFound(refuse('not_found'));
  return app;
}

/** The paths of the operations that clients call most. */
const direct: ReadonlyMap<string, GatewayOperation> = new Map([
  ['/v1/chat/completions', chat],
  ['/v1/responses', responses],
  ['/v1/embeddings', embeddings],
  ['/v1/rerank', rerank],
]);

/**
 * Answers calls of models without the request objects of the framework: the route is the whole request target, and the
 * answer is written to the response of Node in both cases.
 * @param agents is called first, as in the framework
 */
export function createDirectModels(gateway: Gateway, agents?: DirectHandler): DirectHandler {
  return (incoming, outgoing) => {
    const answered = agents?.(incoming, outgoing);
    if (answered !== undefined) return answered;
    const operation = incoming.method === 'POST' ? direct.get(incoming.url ?? '') : undefined;
    return operation === undefined ? undefined : runOperation(gateway, operation, incoming, outgoing);
  };
}

const faultCodes = {
  headers_too_large: 'headers_too_large',
  timeout: 'request_timeout',
  bad_request: 'invalid_json',
  expectation: 'invalid_json',
} as const satisfies Record<ClientFault, ClientErrorCode>;

/** The error body of a request that Node refuses before a handler receives it. */
export function clientFault(fault: ClientFault): FaultAnswer {
  const { status, body } = errorAnswer(plainError(faultCodes[fault]));
  return { status, contentType: 'application/json', body: body.toString('utf8') };
}
