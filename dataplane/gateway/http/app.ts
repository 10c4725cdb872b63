import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import type { FaultAnswer } from '#kit/http/listen';
import { drainRefused } from '#kit/http/read-body';
import { plainError } from '../relay/client-error.ts';
import { completeChat } from './complete-chat.ts';
import { createEmbedding } from './create-embedding.ts';
import { errorAnswer } from './errors.ts';
import { listModels } from './list-models.ts';
import type { Gateway } from './request-context.ts';
import { type GatewayOperation, runOperation, sendError } from './run-operation.ts';

type Env = { Bindings: HttpBindings };

const chat: GatewayOperation = { name: 'chat', run: completeChat };
const embeddings: GatewayOperation = { name: 'embeddings', run: createEmbedding };
const models: GatewayOperation = { name: 'models', run: listModels };

/** The routes that clients of models see. Answers are written to Node's own response, which alone can hold back. */
export function createApp(gateway: Gateway): Hono<Env> {
  const app = new Hono<Env>();
  const serve = (operation: GatewayOperation) => async (context: Context<Env>) => {
    await runOperation(gateway, operation, context.env.incoming, context.env.outgoing);
    return RESPONSE_ALREADY_SENT;
  };
  const refuse = (code: 'not_found' | 'method_not_allowed') => (context: Context<Env>) => {
    const { incoming, outgoing } = context.env;
    drainRefused(incoming, outgoing);
    sendError(outgoing, plainError(code));
    return RESPONSE_ALREADY_SENT;
  };
  app.post('/v1/chat/completions', serve(chat)).all(refuse('method_not_allowed'));
  app.post('/v1/embeddings', serve(embeddings)).all(refuse('method_not_allowed'));
  app.get('/v1/models', serve(models)).all(refuse('method_not_allowed'));
  app.notFound(refuse('not_found'));
  return app;
}

/** What Node refuses by itself, in the shape of the API. */
export function clientFault(): FaultAnswer {
  const { status, body } = errorAnswer(plainError('invalid_json'));
  return { status, contentType: 'application/json', body: body.toString('utf8') };
}
