import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from '#kit/http/json-answer';
import { embeddingsOf, embeddingsRequestSchema } from '../answers/embedding.ts';
import { readRequest } from './read-request.ts';

/** POST /v1/embeddings: vectors that depend on the text alone. */
export async function embeddings(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const request = await readRequest(embeddingsRequestSchema, incoming, outgoing, signal);
  if (request !== undefined) sendJson(outgoing, 200, embeddingsOf(request));
}
