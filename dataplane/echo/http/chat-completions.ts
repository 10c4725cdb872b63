import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sendJson } from '#kit/http/json-answer';
import { type CompletionHead, chunksOf, completionOf } from '../answers/completion.ts';
import { type ChatRequest, chatRequestSchema, echoOf } from '../answers/echo-text.ts';
import { readRequest } from './read-request.ts';

/** POST /v1/chat/completions, buffered and streamed; a stream waits `chunkDelayMs` before each chunk but the first. */
export async function chatCompletions(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  head: (model: string) => CompletionHead,
  chunkDelayMs: number,
  signal: AbortSignal,
): Promise<void> {
  const request = await readRequest(chatRequestSchema, incoming, outgoing, signal);
  if (request === undefined) return;
  if (request.stream === true) return stream(request, outgoing, head(request.model), chunkDelayMs, signal);
  sendJson(outgoing, 200, completionOf(head(request.model), echoOf(request)));
}

async function stream(
  request: ChatRequest,
  outgoing: ServerResponse,
  head: CompletionHead,
  chunkDelayMs: number,
  signal: AbortSignal,
): Promise<void> {
  outgoing.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' });
  const includeUsage = request.stream_options?.include_usage === true;
  let first = true;
  for (const chunk of chunksOf(head, echoOf(request), includeUsage)) {
    if (!first && chunkDelayMs > 0) await delay(chunkDelayMs, undefined, { signal });
    first = false;
    if (!outgoing.write(`data: ${JSON.stringify(chunk)}\n\n`)) await once(outgoing, 'drain', { signal });
    signal.throwIfAborted();
  }
  outgoing.end('data: [DONE]\n\n');
}
