import { setTimeout as delay } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { stream } from 'hono/streaming';
import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import { drainRefused, readBody } from '#kit/http/read-body';
import { JsonError, parseStrict } from '#kit/json/parse-strict';
import { chunksOf, completionOf } from '../answers/completion.ts';
import { chatRequestSchema, echoOf } from '../answers/echo-text.ts';
import { embeddingsOf, embeddingsRequestSchema } from '../answers/embedding.ts';
import { rerankingOf, rerankRequestSchema } from '../answers/rerank.ts';

type Env = { Bindings: HttpBindings };

/** Largest request body in bytes; the same limit as the gateway's. */
const maxBodyBytes = 20 * 1_024 * 1_024;

/** Errors of the echo provider with their HTTP status, in the shape that OpenAI clients expect. */
const faults = {
  invalid_json: { status: 400, message: 'The body is not strict JSON.' },
  invalid_request: { status: 400, message: 'The body lacks a member that this path requires.' },
  body_too_large: { status: 413, message: 'The body is too large.' },
  not_found: { status: 404, message: 'The path does not exist.' },
  method_not_allowed: { status: 405, message: 'The path does not support this method.' },
} as const;

/**
 * The HTTP routes of the echo provider, which accepts every model name. A stream waits `chunkDelayMs` before each chunk
 * except the first. @param seconds returns the current time in seconds since 1970
 */
export function createApp(chunkDelayMs: number, seconds: () => number): Hono<Env> {
  const app = new Hono<Env>();
  const model = { id: 'echo', object: 'model', created: seconds(), owned_by: 'portcullis' };

  app
    .post('/v1/chat/completions', async (context) => {
      const request = await readRequest(chatRequestSchema, context);
      if (request instanceof Response) return request;
      const head = { id: `chatcmpl-${uuid()}`, created: seconds(), model: request.model };
      const echo = echoOf(request);
      if (request.stream !== true) return context.json(completionOf(head, echo));
      return streamed(context, chunksOf(head, echo, request.stream_options?.include_usage === true), chunkDelayMs);
    })
    .all((context) => refuse(context, 'method_not_allowed'));
  app
    .post('/v1/embeddings', async (context) => {
      const request = await readRequest(embeddingsRequestSchema, context);
      return request instanceof Response ? request : context.json(embeddingsOf(request));
    })
    .all((context) => refuse(context, 'method_not_allowed'));
  app
    .post('/v1/rerank', async (context) => {
      const request = await readRequest(rerankRequestSchema, context);
      return request instanceof Response ? request : context.json(rerankingOf(request));
    })
    .all((context) => refuse(context, 'method_not_allowed'));
  app
    .get('/v1/models', (context) => context.json({ object: 'list', data: [model] }))
    .all((context) => refuse(context, 'method_not_allowed'));
  app.notFound((context) => refuse(context, 'not_found'));
  return app;
}

/** The validated body of a request, or the error response for an invalid body. */
async function readRequest<S extends z.ZodType>(schema: S, context: Context<Env>): Promise<z.infer<S> | Response> {
  const { incoming, outgoing } = context.env;
  const body = await readBody(incoming, { limit: maxBodyBytes, signal: context.req.raw.signal });
  if (!body.ok) {
    // Every error other than too_large means that the client has disconnected: no response is sent.
    drainRefused(incoming, outgoing);
    return refuse(context, 'body_too_large');
  }
  try {
    const checked = schema.safeParse(parseStrict(body.bytes));
    return checked.success ? checked.data : refuse(context, 'invalid_request');
  } catch (error) {
    if (error instanceof JsonError) return refuse(context, 'invalid_json');
    throw error;
  }
}

function streamed(context: Context<Env>, chunks: Iterable<object>, chunkDelayMs: number): Response {
  context.header('content-type', 'text/event-stream; charset=utf-8');
  context.header('cache-control', 'no-store');
  return stream(
    context,
    async (output) => {
      const gone = new AbortController();
      output.onAbort(() => gone.abort());
      let first = true;
      for (const chunk of chunks) {
        if (!first && chunkDelayMs > 0) await delay(chunkDelayMs, undefined, { signal: gone.signal });
        first = false;
        await output.write(`data: ${JSON.stringify(chunk)}\n\n`);
        gone.signal.throwIfAborted();
      }
      await output.write('data: [DONE]\n\n');
    },
    async () => undefined,
  );
}

function refuse(context: Context<Env>, code: keyof typeof faults): Response {
  const { status, message } = faults[code];
  return context.json({ error: { message, type: 'invalid_request_error', param: null, code } }, status);
}
